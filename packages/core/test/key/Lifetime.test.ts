import { isLifetime, parseLifetime } from "@data-cabinet/core/key/Lifetime"
import { assert, it } from "vitest"

it("parseLifetime reads minutes, hours and days up to ten years, and nothing else", () => {
  assert.deepStrictEqual(["30m", "12h", "90d", "3650d"].map(parseLifetime), [1800, 43_200, 7_776_000, 315_360_000])
  for (const wrong of ["", "90", "0d", "-1d", "1.5d", "3651d", "9999999d", "90 d", "1y", "30s"]) {
    assert.isNull(parseLifetime(wrong), wrong)
  }
})

it("isLifetime accepts whole seconds from a minute up", () => {
  assert.isTrue(isLifetime(60))
  for (const wrong of [59, 60.5, Number.NaN, Infinity]) assert.isFalse(isLifetime(wrong))
})
