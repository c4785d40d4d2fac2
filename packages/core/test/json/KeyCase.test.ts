import { camelKeys, snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { assert, it } from "vitest"

it("snakeKeys converts the keys of objects at any depth, and leaves the values unchanged", () => {
  assert.deepStrictEqual(
    snakeKeys({ daysAhead: 3, isA1B: [{ baseUrl: "aB" }, null, "cD", 1], plain: { deepKey: undefined }, none: null }),
    { days_ahead: 3, is_a1_b: [{ base_url: "aB" }, null, "cD", 1], plain: { deep_key: undefined }, none: null },
  )
  for (const value of [null, "aB", 7, true]) assert.strictEqual(snakeKeys(value), value)
})

it("camelKeys reverses snakeKeys", () => {
  const value = { daysAhead: 3, list: [{ baseUrl: "a_b" }, null, "c_d", 1], plain: { deepKey: true }, none: null }
  assert.deepStrictEqual(camelKeys(snakeKeys(value)), value)
})
