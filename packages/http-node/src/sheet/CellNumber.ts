/** The numbers of cells, with every digit that the file holds. */
import type { SheetCell } from "@data-cabinet/core/file/SheetReader"

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/

/** So many digits of any decimal survive in a double. */
const SAFE_CHARACTERS = 15
/** So many digits identify a double: programs write them of a number that was computed. */
const DOUBLE_DIGITS = 17

/** Without the zeros at its end. */
export const trimZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly digits: string
  /** Of the first digit. */
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

/** As JSON writes numbers: no sign of its own, no zeros in front, a digit on both sides of the point. */
const tokenOf = (text: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent] = NUMBER.exec(text)!
  const point = fraction === "" ? "" : `.${fraction}`
  const power = exponent === undefined ? "" : `e${exponent.replace("+", "")}`
  return `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/, "") || "0"}${point}${power}`
}

/**
 * The number that the text is; the text itself if it is none. A double that was written with all its 17 digits is the double
 * (`0.10000000000000001` is 0.1); any other number that a double cannot hold keeps its digits.
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
