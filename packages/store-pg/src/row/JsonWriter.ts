/**
 * Writes JSON as UTF-8 into a buffer with enough room. It creates no strings, and writes words of four bytes where
 * possible. Each function writes into `to` from `at` on, and returns the end.
 */

export const QUOTE = 0x22
export const POINT = 0x2e
export const DASH = 0x2d
export const ZERO = 0x30
const BACKSLASH = 0x5c

const WORD_BYTES = 4

/** A constant text, stored as words; writing it may overwrite up to three bytes past its end. */
export class JsonFragment {
  readonly length: number
  readonly #words: ReadonlyArray<number>

  constructor(text: string) {
    const bytes = Buffer.from(text)
    const padded = Buffer.concat([bytes], Math.ceil(bytes.length / WORD_BYTES) * WORD_BYTES)
    this.length = bytes.length
    this.#words = Array.from({ length: padded.length / WORD_BYTES }, (_, index) =>
      padded.readInt32BE(index * WORD_BYTES),
    )
  }

  write(to: DataView, at: number): number {
    const words = this.#words
    for (let index = 0; index < words.length; index++) to.setInt32(at + index * WORD_BYTES, words[index]!)
    return at + this.length
  }
}

const LONG_BYTES = 8

/**
 * From this size on bytes are copied as a block. That creates two objects: for shorter texts they would be most of a
 * page's garbage, and cost more than copying word by word.
 */
const MIN_BLOCK_BYTES = 512

/** Copies bytes unchanged. */
export const copyBytes = (to: DataView, at: number, from: DataView, start: number, size: number): number => {
  if (size >= MIN_BLOCK_BYTES) {
    new Uint8Array(to.buffer, to.byteOffset + at, size).set(new Uint8Array(from.buffer, from.byteOffset + start, size))
    return at + size
  }
  let next = 0
  for (; next <= size - LONG_BYTES; next += LONG_BYTES) to.setBigInt64(at + next, from.getBigInt64(start + next))
  for (; next < size; next++) to.setUint8(at + next, from.getUint8(start + next))
  return at + size
}

/** Writes a text that is pure ASCII. */
export const ascii = (to: DataView, at: number, text: string): number => {
  for (let next = 0; next < text.length; next++) to.setUint8(at + next, text.charCodeAt(next))
  return at + text.length
}

/** The numbers from 0 to 99 as two digits. */
const PAIRS = Uint16Array.from(
  { length: 100 },
  (_, value) => ((ZERO + ((value / 10) | 0)) << 8) | (ZERO + (value % 10)),
)

/** Writes a number from 0 to 99 as two digits. */
export const twoDigits = (to: DataView, at: number, value: number): number => {
  to.setUint16(at, PAIRS[value]!)
  return at + 2
}

/** Writes a number from 0 to 9999 as four digits. */
export const fourDigits = (to: DataView, at: number, value: number): number => {
  const hundreds = (value / 100) | 0
  to.setInt32(at, (PAIRS[hundreds]! << 16) | PAIRS[value - hundreds * 100]!)
  return at + WORD_BYTES
}

/** Writes a number from 0 to 2^31 - 1. */
export const digits = (to: DataView, at: number, value: number): number => {
  let end = at + 1
  for (let power = 10; power <= value; power *= 10) end++
  let left = value
  let next = end
  for (; left >= 100; next -= 2) {
    const hundredth = (left / 100) | 0
    twoDigits(to, next - 2, left - hundredth * 100)
    left = hundredth
  }
  if (left >= 10) twoDigits(to, next - 2, left)
  else to.setUint8(next - 1, ZERO + left)
  return end
}

/** Writes a safe integer. */
export const integer = (to: DataView, at: number, value: number): number => {
  if (value >= 0 && value < 0x8000_0000) return digits(to, at, value)
  return ascii(to, at, String(value))
}

/** The letter after the backslash for control characters that have a short escape; 0 for the others. */
const LETTERS = new Uint8Array(32)
for (const [letter, byte] of Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13 })) LETTERS[byte] = letter.charCodeAt(0)

const HEX = Buffer.from("0123456789abcdef")

/** Writes a byte of a text, escaped if JSON requires it. */
const textByte = (to: DataView, at: number, byte: number): number => {
  if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
    to.setUint8(at, byte)
    return at + 1
  }
  to.setUint8(at, BACKSLASH)
  const letter = byte < 0x20 ? LETTERS[byte]! : byte
  if (letter !== 0) {
    to.setUint8(at + 1, letter)
    return at + 2
  }
  ascii(to, at + 1, "u00")
  to.setUint8(at + 4, HEX[byte >> 4]!)
  to.setUint8(at + 5, HEX[byte & 15]!)
  return at + 6
}

/** Multiplied by a byte, it is that byte four times. */
const EACH = 0x0101_0101
const TOPS = 0x80 * EACH

/** Nonzero if any byte of the word is below the limit, which is at most 128. */
const anyBelow = (word: number, limit: number): number => (word - limit * EACH) & ~word & TOPS

/** True if any byte of the word needs an escape in a JSON string. */
const needsEscape = (word: number): boolean =>
  (anyBelow(word, 0x20) | anyBelow(word ^ (QUOTE * EACH), 1) | anyBelow(word ^ (BACKSLASH * EACH), 1)) !== 0

/** Writes UTF-8 text in quotes. */
export const text = (to: DataView, at: number, from: DataView, start: number, size: number): number => {
  const end = start + size
  let here = at
  to.setUint8(here++, QUOTE)
  let next = start
  while (next <= end - WORD_BYTES) {
    const word = from.getInt32(next)
    if (needsEscape(word)) {
      for (const last = next + WORD_BYTES; next < last; next++) here = textByte(to, here, from.getUint8(next))
    } else {
      to.setInt32(here, word)
      here += WORD_BYTES
      next += WORD_BYTES
    }
  }
  for (; next < end; next++) here = textByte(to, here, from.getUint8(next))
  to.setUint8(here, QUOTE)
  return here + 1
}
