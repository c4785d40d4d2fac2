/**
 * Encodes the binary formats of PostgreSQL's values, which are big-endian, as JSON. Every digit is kept. The result is that
 * of PostgreSQL's own `to_json`, except that bytes are base64.
 *
 * Decision: docs/decisions/0021-node-writes-the-json-of-rows.md
 */
import { ascii, copyBytes, DASH, digits, fourDigits, integer, JsonFragment, POINT, QUOTE, text } from "./JsonWriter.ts"

/** Writes the JSON of a value, `size` bytes of `sent` from `start` on, into `to` from `at` on. Returns the end. */
export type WriteValue = (to: DataView, at: number, sent: DataView, start: number, size: number) => number

export interface JsonEncoder {
  readonly write: WriteValue
  /** Maximum number of bytes written, if it may exceed {@link MAX_SCALAR_BYTES}. */
  readonly longest: ((sent: DataView, start: number) => number) | null
  /** The size of every value; null if sizes differ. */
  readonly size: number | null
  /** Checks that the bytes are a value of the type; null if checking their number is enough. */
  readonly isValue: ((sent: DataView, start: number, size: number) => boolean) | null
}

/**
 * Maximum number of bytes written for `size` bytes, including those that a JsonFragment writes past its end. One byte of text
 * may become six, as in `\u001f`.
 */
export const MAX_SCALAR_BYTES = (size: number): number => size * 6 + 40

export const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length)

/** Reads a 64-bit integer; not exact beyond 2^53. */
export const int64At = (sent: DataView, at: number): number => sent.getInt32(at) * 2 ** 32 + sent.getUint32(at + 4)

const form = (write: WriteValue, size: number | null = null): JsonEncoder => ({
  write,
  longest: null,
  size,
  isValue: null,
})

export const TEXT = form(text)

/** Copies JSON as it is. */
export const JSON_TEXT = form(copyBytes)

/** Skips the version of the format in front of the JSON. */
export const JSONB: JsonEncoder = {
  ...form((to, at, sent, start, size) => copyBytes(to, at, sent, start + 1, size - 1)),
  isValue: (_sent, _start, size) => size > 0,
}

export const BYTES = form((to, at, sent, start, size) => {
  to.setUint8(at, QUOTE)
  const end = ascii(to, at + 1, Buffer.from(sent.buffer, sent.byteOffset + start, size).toString("base64"))
  to.setUint8(end, QUOTE)
  return end + 1
})

const FALSE = new JsonFragment("false")
const TRUE = new JsonFragment("true")

export const BOOLEAN = form((to, at, sent, start) => (sent.getUint8(start) === 0 ? FALSE : TRUE).write(to, at), 1)

export const INT16 = form((to, at, sent, start) => integer(to, at, sent.getInt16(start)), 2)

/** Unsigned. */
export const OID = form((to, at, sent, start) => integer(to, at, sent.getUint32(start)), 4)

export const INT32 = form((to, at, sent, start) => integer(to, at, sent.getInt32(start)), 4)

export const INT64 = form((to, at, sent, start) => {
  const value = int64At(sent, start)
  return Number.isSafeInteger(value) ? integer(to, at, value) : ascii(to, at, String(sent.getBigInt64(start)))
}, 8)

/** Numeric values without digits, by their sign field. For others the field is 0, or 0x4000 if they are negative. */
const NUMERIC_SPECIALS: ReadonlyMap<number, string> = new Map([
  [0xc000, '"NaN"'],
  [0xd000, '"Infinity"'],
  [0xf000, '"-Infinity"'],
])

/**
 * A numeric is four 16-bit fields, then digits in base 10,000, the first of which has the weight 10,000^weight. The fourth
 * field is the number of decimals to show.
 */
const writeNumeric: WriteValue = (to, at, sent, start) => {
  const sign = sent.getUint16(start + 4)
  let here = at
  if (sign !== 0) {
    const special = NUMERIC_SPECIALS.get(sign)
    if (special !== undefined) return ascii(to, at, special)
    to.setUint8(here++, DASH)
  }
  const weight = sent.getInt16(start + 2)
  const decimals = sent.getUint16(start + 6)
  here = digits(to, here, weight < 0 ? 0 : digitAt(sent, start, 0))
  for (let index = 1; index <= weight; index++) here = fourDigits(to, here, digitAt(sent, start, index))
  if (decimals === 0) return here
  to.setUint8(here++, POINT)
  const end = here + decimals
  // The last four digits may exceed what is shown; the excess is overwritten or lies past the end.
  for (let index = weight + 1; here < end; index++) here = fourDigits(to, here, digitAt(sent, start, index))
  return end
}

/** Returns a digit, counted from the most significant one; digits that were not sent are zero. */
const digitAt = (sent: DataView, start: number, index: number): number =>
  index >= 0 && index < sent.getUint16(start) ? sent.getUint16(start + 8 + index * 2) : 0

export const NUMERIC: JsonEncoder = {
  write: writeNumeric,
  longest: (sent, start) => Math.max(0, sent.getInt16(start + 2)) * 4 + sent.getUint16(start + 6) + 20,
  size: null,
  isValue: (sent, start, size) => size >= 8 && size === 8 + sent.getUint16(start) * 2,
}
