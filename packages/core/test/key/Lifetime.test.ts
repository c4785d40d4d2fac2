import { isLifetime, lifetimeText, parseLifetime } from "@data-cabinet/core/key/Lifetime"
import { assert, it } from "vitest"

it("parseLifetime reads minutes, hours and days up to ten years, and nothing else", () => {
  assert.deepStrictEqual(["30m", "12h", " 90d\n", "3650d"].map(parseLifetime), [1800, 43_200, 7_776_000, 315_360_000])
  for (const wrong of [
    "",
    "90",
    "0d",
    "-1d",
    "1.5d",
    "3651d",
    "9999999d",
    "90 d",
    "1y",
    "30s",
    "90days",
    "x90d",
    "05d",
  ]) {
    assert.isNull(parseLifetime(wrong), wrong)
  }
})

it("isLifetime accepts whole seconds from a minute up", () => {
  assert.isTrue(isLifetime(60))
  assert.isTrue(isLifetime(315_360_000))
  for (const wrong of [59, 60.5, 315_360_001, Number.NaN, Infinity]) assert.isFalse(isLifetime(wrong))
})

it("lifetimeText writes what parseLifetime reads, in the largest unit that needs no fraction", () => {
  assert.deepStrictEqual([60, 3_600, 5_400, 86_400, 90_000, 7_776_000, 90, 1].map(lifetimeText), [
    "1m",
    "1h",
    "90m",
    "1d",
    "25h",
    "90d",
    "90s",
    "1s",
  ])
  for (const text of ["59m", "23h", "90d", "3650d"]) assert.strictEqual(lifetimeText(parseLifetime(text)!), text)
})
