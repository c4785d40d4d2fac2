import { compareDecimals, decimalOf } from "@data-cabinet/core/json/Decimal"
import { assert, it } from "vitest"

const compare = (a: string, b: string): number => compareDecimals(decimalOf(a)!, decimalOf(b)!)

// Quadratic work on the zeros would take hours.
it("compareDecimals compares a megabyte of zeros and digits", () => {
  const text = `${"0".repeat(500_000)}1${"0".repeat(250_000)}1${"0".repeat(250_000)}`
  assert.strictEqual(compare(text, `1${"0".repeat(250_000)}1e250000`), 0)
})
