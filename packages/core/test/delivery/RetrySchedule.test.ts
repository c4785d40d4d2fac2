import { expect, it } from "vitest"
import { retryAfterSeconds } from "@data-cabinet/core/delivery/RetrySchedule"

it("retryAfterSeconds doubles from 30 seconds up to a day", () => {
  const seconds = Array.from({ length: 16 }, (_, n) => retryAfterSeconds(n + 1))
  expect(seconds).toEqual([
    30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 86_400, 86_400, 86_400, 86_400,
  ])
  expect(retryAfterSeconds(100_000)).toBe(86_400)
})
