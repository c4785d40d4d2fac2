/**
 * JSON written in UTF-8, byte by byte, where there is room for it: nothing becomes a string on the way. Each writes into
 * `to` from `at` on and returns where it ends.
 */

export const QUOTE = 0x22
export const POINT = 0x2e
export const DASH = 0x2d
export const ZERO = 0x30
const BACKSLASH = 0x5c

/** Nothing is gained by copying fewer than this as a block. */
const BLOCK = 48

/** Bytes as they are. */
export const copyBytes = (to: Uint8Array, at: number, from: Uint8Array, start: number, size: number): number => {
  if (size >= BLOCK) to.set(from.subarray(start, start + size), at)
  else for (let next = 0; next < size; next++) to[at + next] = from[start + next]!
  return at + size
}

/** A text of ASCII alone. */
export const ascii = (to: Uint8Array, at: number, text: string): number => {
  for (let next = 0; next < text.length; next++) to[at + next] = text.charCodeAt(next)
  return at + text.length
}

/** A number from 0 to 99 in two digits. */
export const pair = (to: Uint8Array, at: number, value: number): number => {
  const tens = (value * 103) >> 10
  to[at] = ZERO + tens
  to[at + 1] = ZERO + value - tens * 10
  return at + 2
}

/** A number from 0 to 9999 in four digits. */
export const four = (to: Uint8Array, at: number, value: number): number => {
  const hundreds = (value / 100) | 0
  return pair(to, pair(to, at, hundreds), value - hundreds * 100)
}

/** A number from 0 to 2^31 - 1. */
export const digits = (to: Uint8Array, at: number, value: number): number => {
  let end = at + 1
  for (let power = 10; power <= value; power *= 10) end++
  let left = value
  for (let next = end - 1; next >= at; next--) {
    const tenth = (left / 10) | 0
    to[next] = ZERO + left - tenth * 10
    left = tenth
  }
  return end
}

/** A safe integer. */
export const integer = (to: Uint8Array, at: number, value: number): number => {
  if (value >= 0 && value < 0x8000_0000) return digits(to, at, value)
  return ascii(to, at, String(value))
}

/** The letter after the backslash, for the control characters that have one; else 0. */
const LETTERS = new Uint8Array(32)
for (const [letter, byte] of Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13 })) LETTERS[byte] = letter.charCodeAt(0)

const HEX = Buffer.from("0123456789abcdef")

/** A byte that may not stand in a JSON text. */
const escaped = (to: Uint8Array, at: number, byte: number): number => {
  to[at] = BACKSLASH
  const letter = byte < 0x20 ? LETTERS[byte]! : byte
  if (letter !== 0) {
    to[at + 1] = letter
    return at + 2
  }
  to[at + 1] = 0x75 // u
  to[at + 2] = ZERO
  to[at + 3] = ZERO
  to[at + 4] = HEX[byte >> 4]!
  to[at + 5] = HEX[byte & 15]!
  return at + 6
}

/** UTF-8 in quotes. */
export const text = (to: Uint8Array, at: number, from: Uint8Array, start: number, size: number): number => {
  const end = start + size
  let here = at
  to[here++] = QUOTE
  for (let next = start; next < end; next++) {
    const byte = from[next]!
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) to[here++] = byte
    else here = escaped(to, here, byte)
  }
  to[here] = QUOTE
  return here + 1
}
