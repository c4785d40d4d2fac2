import { assert, it } from "vitest"
import { cellNumber } from "../../src/sheet/CellNumber.ts"

it.each([
  ["0", 0],
  ["-1.50", -1.5],
  [" 7 ", 7],
  ["1E3", 1000],
  ["1.5e-7", 1.5e-7],
  ["5.", 5],
  [".5", 0.5],
  ["0.10000000000000001", 0.1],
  ["0.30000000000000004", 0.30000000000000004],
  ["100000000000000000000", 100000000000000000000],
  ["1234567890123456789", { digits: "1234567890123456789" }],
  ["12345678901234567", { digits: "12345678901234567" }],
  ["-0.123456789012345678901", { digits: "-0.123456789012345678901" }],
  ["+00123456789012345678.50", { digits: "123456789012345678.50" }],
  ["1e400", { digits: "1e400" }],
  ["1E-400", { digits: "1e-400" }],
  ["", ""],
  [".", "."],
  ["1,5", "1,5"],
  ["0x10", "0x10"],
  ["Infinity", "Infinity"],
  ["2024-03-01", "2024-03-01"],
  ["--1", "--1"],
])("cellNumber of %j is %j", (text, value) => {
  assert.deepStrictEqual(cellNumber(text), value)
})

it("cellNumber keeps each double that is written with all its digits", () => {
  const doubles = [1 / 3, 2 ** 60, 1e21 / 7, 123456.789, 1e-300, 45000.39583333334]
  for (const double of doubles) {
    for (const text of [String(double), double.toPrecision(17), double.toExponential()]) {
      assert.strictEqual(cellNumber(text), double, text)
    }
  }
})

it("cellNumber keeps all digits of a long decimal", () => {
  for (let length = 18; length < 40; length++) {
    const digits = "918273645546372819".repeat(3).slice(0, length)
    assert.deepStrictEqual(cellNumber(digits), { digits })
    assert.deepStrictEqual(cellNumber(`0.${digits}`), { digits: `0.${digits}` })
  }
})
