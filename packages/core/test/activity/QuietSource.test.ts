import { isQuiet } from "@data-cabinet/core/activity/QuietSource"
import { expect, it } from "vitest"

const HOUR = 3600
const DAY = 24 * HOUR
const silence = (seconds: number, usualSeconds: number | null = 12 * HOUR, activeDays = 20) =>
  isQuiet({ since: "2026-11-25T09:00:00Z", seconds, activeDays, usualSeconds })

it("a source is quiet once it is silent for one and a half times as long as is usual for it", () => {
  expect([18 * HOUR, 18 * HOUR + 1].map((seconds) => silence(seconds))).toEqual([false, true])
})

it("a source that receives by the minute is quiet after two hours, and no sooner", () => {
  expect([2 * HOUR, 2 * HOUR + 1].map((seconds) => silence(seconds, 60))).toEqual([false, true])
})

it("a silence of more than four weeks is known, and no longer reported", () => {
  expect([28 * DAY, 28 * DAY + 1].map((seconds) => silence(seconds))).toEqual([true, false])
})

it("a source without a habit is never quiet: it received on fewer than five days, or had no three silences", () => {
  expect([4, 5].map((days) => silence(2 * DAY, 12 * HOUR, days))).toEqual([false, true])
  expect(silence(20 * DAY, null)).toBe(false)
})
