import { expect, it } from "vitest"
import { isQuiet } from "@data-cabinet/core/activity/Activity"

const HOUR = 3600
const DAY = 24 * HOUR
const silence = (seconds: number, usualSeconds: number | null = 12 * HOUR, activeDays = 20) =>
  isQuiet({ since: "2026-11-25T09:00:00Z", seconds, activeDays, usualSeconds })

it("isQuiet is true after one and a half times the usual silence", () => {
  expect([18 * HOUR, 18 * HOUR + 1].map((seconds) => silence(seconds))).toEqual([false, true])
})

it("isQuiet is true no sooner than after two hours", () => {
  expect([2 * HOUR, 2 * HOUR + 1].map((seconds) => silence(seconds, 60))).toEqual([false, true])
})

it("isQuiet is false after four weeks of silence", () => {
  expect([28 * DAY, 28 * DAY + 1].map((seconds) => silence(seconds))).toEqual([true, false])
})

it("isQuiet is false with fewer than five active days or three silences", () => {
  expect([4, 5].map((days) => silence(2 * DAY, 12 * HOUR, days))).toEqual([false, true])
  expect(silence(20 * DAY, null)).toBe(false)
})
