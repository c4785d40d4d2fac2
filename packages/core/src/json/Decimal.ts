/**
 * Compares numbers by their digits, so that none is lost to a double: tokens of JSON, and numbers that people write. No number
 * is written out: `1e999999999` takes as much memory as its text.
 */

/** `0.digits × 10^point`; the digits neither begin nor end with a zero. Zero has sign 0 and no digits. */
export interface Decimal {
  readonly sign: -1 | 0 | 1
  readonly point: number
  readonly digits: string
}

const FORM = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/

const ZERO = 48

/** Null for a text that is not a number. An exponent beyond all doubles is as good as infinite. */
export const decimalOf = (text: string): Decimal | null => {
  const match = FORM.exec(text)
  if (match === null) return null
  const whole = match[2] ?? ""
  const digits = whole + (match[3] ?? match[4] ?? "")
  let from = 0
  while (digits.charCodeAt(from) === ZERO) from++
  if (from === digits.length) return { sign: 0, point: 0, digits: "" }
  let to = digits.length
  while (digits.charCodeAt(to - 1) === ZERO) to--
  return {
    sign: match[1] === "-" ? -1 : 1,
    point: Number(match[5] ?? 0) + whole.length - from,
    digits: digits.slice(from, to),
  }
}

/** Negative, zero or positive if `a` is less than, equal to or greater than `b`. */
export const compareDecimals = (a: Decimal, b: Decimal): number => {
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.point !== b.point) return a.point < b.point ? -a.sign : a.sign
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -a.sign : a.sign
}
