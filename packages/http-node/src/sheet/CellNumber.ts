/** The numbers of cells, with every digit in the file. */
import type { SheetCell } from "@data-cabinet/core/file/SheetReader"

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/

/** Decimals of up to this many digits survive in a double. */
const SAFE_CHARACTERS = 15
/** This many digits identify a double: programs write them for computed numbers. */
const DOUBLE_DIGITS = 17

/** Removes trailing zeros. */
export const trimZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly digits: string
  /** The power of the first digit. */
  readonly power: number
}

const decimalOf = (text: string): Decimal => {
  const [, , whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text)!
  const all = whole + fraction
  const digits = all.replace(/^0+/, "")
  const power = digits === "" ? 0 : whole.length - (all.length - digits.length) + Number(exponent)
  return { digits: trimZeros(digits), power }
}

const isSame = (a: Decimal, b: Decimal): boolean => a.digits === b.digits && a.power === b.power

/** In JSON's form: no plus sign, no leading zeros, a digit on both sides of the point. */
const tokenOf = (text: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent] = NUMBER.exec(text)!
  const point = fraction === "" ? "" : `.${fraction}`
  const power = exponent === undefined ? "" : `e${exponent.replace("+", "")}`
  return `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/, "") || "0"}${point}${power}`
}

/**
 * The number that the text represents; the text itself if it is not a number. A double that was written with all its 17
 * digits becomes that double (`0.10000000000000001` is 0.1); any other number that a double cannot hold keeps its
 * digits.
 */
export const cellNumber = (given: string): SheetCell => {
  const text = given.trim()
  const parts = NUMBER.exec(text)
  if (parts === null || (parts[2] === "" && (parts[3] ?? "") === "")) return given
  const value = Number(text)
  if (text.length <= SAFE_CHARACTERS && parts[4] === undefined) return value
  if (!Number.isFinite(value)) return { digits: tokenOf(text) }
  const decimal = decimalOf(text)
  if (isSame(decimal, decimalOf(String(value)))) return value
  const isDouble =
    decimal.digits.length === DOUBLE_DIGITS && isSame(decimal, decimalOf(value.toPrecision(DOUBLE_DIGITS)))
  return isDouble ? value : { digits: tokenOf(text) }
}
