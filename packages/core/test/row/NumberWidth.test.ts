import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { type Container, fitsJsonb, fitsNumeric, NumberCheck } from "@data-cabinet/core/row/NumberWidth"
import { expect, it } from "vitest"

const number = (token: string) => new JsonNumber(token)
const digits = (length: number) => "7".repeat(length)

it.each([
  [digits(1_000), true],
  [digits(1_001), false],
  [`-${digits(1_000)}`, true],
  [`${digits(500)}.${digits(500)}`, true],
  [`${digits(500)}.${digits(501)}`, false],
  ["1e999", true],
  ["1e1000", false],
  ["1E1000", false],
  ["1E+999", true],
  ["1e-999", true],
  ["1e-1000", false],
  ["0e0", true],
])("PostgreSQL is given a number of at most 1,000 plain digits: %s", (token, fits) => {
  expect(fitsNumeric(number(token))).toBe(fits)
  const nested: ReadonlyArray<Container> = [
    [number(token)],
    [[], "x", null, [[number(token)]]],
    new Map<string, Json>([["a", new Map<string, Json>([["b", [number(token)]]])]]),
    [new Map([["a", number(token)]]), number("1")],
  ]
  for (const container of nested) {
    expect(fitsJsonb(container)).toBe(fits)
    for (const piece of [1, 2, 1_000]) {
      const check = new NumberCheck(container)
      let found = check.advance(piece)
      while (found === undefined) found = check.advance(piece)
      expect(found).toBe(fits)
    }
  }
})

it("NumberCheck visits no more values in one piece than its limit", () => {
  const check = new NumberCheck(Array.from({ length: 10 }, () => true))
  const found = Array.from({ length: 3 }, () => check.advance(4))
  expect(found).toEqual([undefined, undefined, true])
})
