import { assert, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { nearest } from "../../src/text/Nearest.ts"

it.each([
  ["order", "orders"],
  ["odrers", "orders"],
  ["ORDERS", "orders"],
  ["oders_2", "orders_2"],
])("nearest finds the word that %s misspells", (typed, meant) => {
  expect(nearest(typed, ["people", "orders_2", "orders", "views"])).toBe(meant)
})

it.each(["x", "invoice", "ord", "", "o".repeat(10_000)])(
  "nearest finds nothing when no word is like %.12s",
  (typed) => {
    expect(nearest(typed, ["orders", "people", "o".repeat(10_000)])).toBeNull()
  },
)

it.prop(
  "nearest returns a candidate that differs from the word only in case",
  [Schema.NonEmptyArray(Schema.String.check(Schema.isMaxLength(20)))],
  ([words]) => {
    assert.strictEqual(nearest(words[0], words)?.toLowerCase(), words[0].toLowerCase())
  },
)
