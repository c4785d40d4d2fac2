import { compareDecimals, decimalOf } from "@data-cabinet/core/json/Decimal"
import { assert, it } from "vitest"

const compare = (a: string, b: string): number => compareDecimals(decimalOf(a)!, decimalOf(b)!)

it("a megabyte of zeros and digits takes no longer than reading it", () => {
  const text = `${"0".repeat(500_000)}1${"0".repeat(250_000)}1${"0".repeat(250_000)}`
  const began = performance.now()
  assert.strictEqual(compare(text, `1${"0".repeat(250_000)}1e250000`), 0)
  assert.isBelow(performance.now() - began, 500)
})
