/**
 * The binary forms in which PostgreSQL sends values, big-endian, and the JSON that is written of each: every digit is kept,
 * and it is what PostgreSQL's own `to_json` would have made, but for bytes, which are base64.
 */
import { ascii, copyBytes, DASH, digits, four, integer, POINT, QUOTE, text } from "./JsonBytes.ts"

/**
 * Writes into `to`, from `at`, the JSON of the value whose bytes are the `size` of `sent` from `start` on. Returns where
 * it ends.
 */
export type WriteValue = (to: Uint8Array, at: number, sent: Uint8Array, start: number, size: number) => number

export interface SentForm {
  readonly write: WriteValue
  /** How many bytes are written at most, where that may be more than {@link LONGEST} says. */
  readonly longest?: (sent: Uint8Array, start: number) => number
}

/** How many bytes are written at most for so many. A byte of a text may become six, as `\u001f`. */
export const LONGEST = (size: number): number => size * 6 + 40

export const int16At = (sent: Uint8Array, at: number): number => ((sent[at]! << 24) >> 16) | sent[at + 1]!

export const int32At = (sent: Uint8Array, at: number): number =>
  (sent[at]! << 24) | (sent[at + 1]! << 16) | (sent[at + 2]! << 8) | sent[at + 3]!

const uint16At = (sent: Uint8Array, at: number): number => (sent[at]! << 8) | sent[at + 1]!

/** Not exact beyond 2^53. */
export const int64At = (sent: Uint8Array, at: number): number =>
  int32At(sent, at) * 2 ** 32 + (int32At(sent, at + 4) >>> 0)

export const bigAt = (sent: Uint8Array, at: number): bigint =>
  (BigInt(int32At(sent, at)) << 32n) | BigInt(int32At(sent, at + 4) >>> 0)

export const TEXT: SentForm = { write: text }

/** JSON already. */
export const JSON_TEXT: SentForm = { write: copyBytes }

/** Its form's version stands before it. */
export const JSONB: SentForm = { write: (to, at, sent, start, size) => copyBytes(to, at, sent, start + 1, size - 1) }

export const BYTES: SentForm = {
  write: (to, at, sent, start, size) => {
    to[at] = QUOTE
    const end = ascii(to, at + 1, Buffer.from(sent.buffer, sent.byteOffset + start, size).toString("base64"))
    to[end] = QUOTE
    return end + 1
  },
}

export const BOOLEAN: SentForm = { write: (to, at, sent, start) => ascii(to, at, sent[start] === 0 ? "false" : "true") }

export const INT16: SentForm = { write: (to, at, sent, start) => integer(to, at, int16At(sent, start)) }

export const INT32: SentForm = { write: (to, at, sent, start) => integer(to, at, int32At(sent, start)) }

export const INT64: SentForm = {
  write: (to, at, sent, start) => {
    const value = int64At(sent, start)
    return Number.isSafeInteger(value) ? integer(to, at, value) : ascii(to, at, String(bigAt(sent, start)))
  },
}

/** What a numeric is that has no digits, by the field of its sign; else that is 0, or 0x4000 below zero. */
const NUMERIC_SPECIALS: ReadonlyMap<number, string> = new Map([
  [0xc000, '"NaN"'],
  [0xd000, '"Infinity"'],
  [0xf000, '"-Infinity"'],
])

/** Four fields of 16 bits, then digits to the base of 10,000: the first weighs 10,000^weight. So many decimals are shown. */
const writeNumeric: WriteValue = (to, at, sent, start) => {
  const sign = uint16At(sent, start + 4)
  let here = at
  if (sign !== 0) {
    const special = NUMERIC_SPECIALS.get(sign)
    if (special !== undefined) return ascii(to, at, special)
    to[here++] = DASH
  }
  const weight = int16At(sent, start + 2)
  const decimals = uint16At(sent, start + 6)
  here = digits(to, here, weight < 0 ? 0 : digitAt(sent, start, 0))
  for (let index = 1; index <= weight; index++) here = four(to, here, digitAt(sent, start, index))
  if (decimals === 0) return here
  to[here++] = POINT
  const end = here + decimals
  // The last four may be more than are shown; what is too much is written over or behind the end.
  for (let index = weight + 1; here < end; index++) here = four(to, here, digitAt(sent, start, index))
  return end
}

/** The index counts from the digit that weighs most; digits that are not sent are zero. */
const digitAt = (sent: Uint8Array, start: number, index: number): number =>
  index >= 0 && index < uint16At(sent, start) ? uint16At(sent, start + 8 + index * 2) : 0

export const NUMERIC: SentForm = {
  write: writeNumeric,
  longest: (sent, start) => Math.max(0, int16At(sent, start + 2)) * 4 + uint16At(sent, start + 6) + 20,
}
