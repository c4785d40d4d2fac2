import { assert, it } from "@effect/vitest"
import { compareDecimals, decimalOf } from "../../src/json/Decimal.ts"
import { Random, Seed } from "../intake/Random.ts"

const compare = (a: string, b: string): number => Math.sign(compareDecimals(decimalOf(a)!, decimalOf(b)!))

/** A number as a person may write it, and its value in units of 10^-60. */
const numberOf = (random: Random) => {
  const digits = String(BigInt(random.list(40, () => random.below(10)).join("") || "0"))
  const shift = random.below(9)
  const text = digits.padStart(shift + 1, "0")
  const exponent = random.below(41) - 20
  const sign = random.pick(["", "-", "+"])
  const fraction = text.slice(text.length - shift)
  return {
    text: `${sign}${"0".repeat(random.below(3))}${text.slice(0, text.length - shift)}${shift === 0 ? "" : `.${fraction}`}e${exponent}`,
    value: BigInt(`${sign === "-" ? "-" : ""}${digits}`) * 10n ** BigInt(60 + exponent - shift),
  }
}

it.prop("compareDecimals orders numbers of forty digits by their last digit", [Seed], ([seed]) => {
  const random = new Random(seed)
  const [a, b] = [numberOf(random), numberOf(random)]
  assert.strictEqual(compare(a.text, b.text), a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
  assert.strictEqual(compare(a.text, a.text), 0)
})

it.each([
  ["1.0", "1", 0],
  ["-0", "0e7", 0],
  ["10e-1", "1", 0],
  [".5", "5e-1", 0],
  ["5.", "+5", 0],
  ["0.1", "0.10000000000000000000000000000000000000001", -1],
  ["12345678901234567890123456789012345678901", "12345678901234567890123456789012345678900", 1],
  ["-2", "-1", -1],
  ["-1", "0", -1],
  ["1e400", "1e399", 1],
  ["-1e999999999999999999999", "-1e400", -1],
  ["1e-999999999999999999999", "0", 1],
] as const)("compareDecimals places %s beside %s", (a, b, expected) => {
  assert.strictEqual(compare(a, b), expected)
  assert.strictEqual(compare(b, a), expected === 0 ? 0 : -expected)
})

it.each(["", ".", "e5", "1e", "0x10", "1_000", "1,5", "NaN", "Infinity", "--1", "1 ", "٣"])(
  "decimalOf returns null when %j is not a number",
  (text) => assert.isNull(decimalOf(text)),
)
