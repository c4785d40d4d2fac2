/** Wrong credentials are limited by address and minute, for any number of addresses. */
import { WrongCredentials } from "@data-cabinet/core/limit/WrongCredentials"
import { expect, it } from "vitest"

it("refuses only an address over its limit, until the minute ends", () => {
  const wrong = new WrongCredentials(3)
  for (let n = 0; n < 3; n++) {
    expect(wrong.retryAfter("198.51.100.9", 90_000)).toBeNull()
    wrong.count("198.51.100.9", 90_000)
  }
  expect(wrong.retryAfter("198.51.100.9", 90_000)).toBe(30)
  expect(wrong.retryAfter("::ffff:198.51.100.9", 119_999)).toBe(1)
  expect(wrong.retryAfter("203.0.113.1", 90_000)).toBeNull()
  expect(wrong.retryAfter("198.51.100.9", 120_000)).toBeNull()
})

it("tracks a bounded number of addresses; the rest of a minute share one count", () => {
  const wrong = new WrongCredentials(2)
  for (let n = 0; n < 10_000; n++) wrong.count(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 0)
  expect(wrong.retryAfter("192.0.2.1", 0)).toBeNull()
  wrong.count("192.0.2.2", 0)
  wrong.count("192.0.2.3", 0)
  expect(wrong.retryAfter("192.0.2.1", 0)).toBe(60)
  expect(wrong.retryAfter("10.0.0.1", 0)).toBeNull()
})

it("restarts counts each minute, and shares one count among requests without an address", () => {
  const wrong = new WrongCredentials(1)
  wrong.count("198.51.100.9", 60_000)
  expect(wrong.retryAfter("198.51.100.9", 60_000)).toBe(60)
  wrong.count("198.51.100.9", 120_000)
  expect(wrong.retryAfter("198.51.100.9", 120_001)).toBe(60)
  expect(wrong.retryAfter(null, 120_001)).toBeNull()
  wrong.count(null, 120_001)
  expect(wrong.retryAfter(null, 179_001)).toBe(1)
})
