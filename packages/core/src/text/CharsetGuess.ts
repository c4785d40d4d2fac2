/**
 * Guesses the charset of bytes when nothing declares it. UTF-8 is certain if the bytes are valid; between windows-1251
 * and windows-1252 the words decide: Cyrillic words consist only of high letters, western words are Latin with a few
 * high letters among them. If the bytes cannot decide (a single "а" or "Ä"), the text counts as Cyrillic.
 */
import { isUtf8 } from "node:buffer"
import { UTF_8, WINDOWS_1251, WINDOWS_1252 } from "./Charset.ts"
import type { Charset } from "./Charset.ts"

/** Guesses over everything that was sent, because a single word says little. Separate the texts with an ASCII character. */
export const guessCharset = (bytes: Buffer): Charset => {
  if (readsAsUtf8(bytes)) return UTF_8
  return latinVotes(bytes) > 0 ? WINDOWS_1252 : WINDOWS_1251
}

/**
 * Guesses the charset of a few words beside a text whose charset is known. Ambiguous words are read like that text; so
 * are all words if its charset is never guessed.
 */
export const guessBeside = (bytes: Buffer, neighbour: Charset | null): Charset => {
  if (neighbour === null || neighbour === UTF_8) return guessCharset(bytes)
  if (readsAsUtf8(bytes)) return UTF_8
  if (neighbour !== WINDOWS_1251 && neighbour !== WINDOWS_1252) return neighbour
  const votes = latinVotes(bytes)
  if (Math.abs(votes) < STRONG) return neighbour
  return votes > 0 ? WINDOWS_1252 : WINDOWS_1251
}

/** Whether these bytes are a value in UTF-8 whose end was cut off inside a character: three whole ones show it. */
export const isCutUtf8 = (bytes: Buffer): boolean => {
  let start = bytes.length - 1
  while (start > 0 && bytes.length - start < 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const needed = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0
  if (lead > 0xf4 || needed <= bytes.length - start) return false
  const whole = bytes.subarray(0, start)
  return isUtf8(whole) && wholeCharacters(whole) >= 3
}

const wholeCharacters = (bytes: Buffer): number => {
  let count = 0
  for (const byte of bytes) if (byte >= 0xc0) count++
  return count
}

/**
 * Valid UTF-8, or so nearly valid that the rest must be damage: in a single-byte charset, characters that happen to be
 * well-formed UTF-8 are rare, so many of them next to few broken bytes indicate UTF-8 that was truncated or mixed.
 */
export const readsAsUtf8 = (bytes: Buffer): boolean => {
  if (isUtf8(bytes)) return true
  const text = bytes.toString("utf8")
  let whole = 0
  let broken = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0xfffd) broken++
    else if (code > 127) whole++
  }
  return whole >= 8 && whole >= broken * 4
}

const NONE = 0
const LATIN = 1
const HIGH = 2
/** Letters in windows-1251 and signs in windows-1252: they can be part of a word but do not begin one by themselves. */
const CYRILLIC_SIGN = 3

const KIND = new Uint8Array(256)
for (let byte = 0; byte < 256; byte++) {
  if ((byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)) KIND[byte] = LATIN
  else if (byte >= 0xc0) KIND[byte] = HIGH
}
for (const byte of [0xa1, 0xa2, 0xa3, 0xa5, 0xa8, 0xaa, 0xaf, 0xb2, 0xb3, 0xb4, 0xb8, 0xba, 0xbc, 0xbd, 0xbe, 0xbf]) {
  KIND[byte] = CYRILLIC_SIGN
}
for (const byte of [0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f]) KIND[byte] = HIGH

/** à, è, é, ó: words of one letter, western if there are Latin words in the same value, otherwise Cyrillic. */
const WESTERN_WORDS = new Set([0xe0, 0xe8, 0xe9, 0xf3, 0xc0, 0xc8, 0xc9, 0xd3])

const STRONG = 4
const WEAK = 1

/** Above zero: windows-1252; below: windows-1251. */
const latinVotes = (bytes: Buffer): number => {
  let votes = 0
  let latinWords = 0
  let westernWords = 0
  const end = bytes.length
  for (let at = 0; at < end;) {
    const first = bytes[at]!
    const kind = KIND[first]
    if (kind === NONE) {
      if (first === 0x80) votes += WEAK
      else if (first === 0x88 || first === 0xb9) votes -= WEAK
      else if (first < 32 || first === 38 || first === 61) {
        votes += latinWords > 0 ? westernWords : -westernWords
        latinWords = 0
        westernWords = 0
      }
      at++
      continue
    }
    let latin = 0
    let high = 0
    let signs = 0
    let run = 0
    let longestRun = 0
    const start = at
    for (; at < end && KIND[bytes[at]!] !== NONE; at++) {
      const of = KIND[bytes[at]!]
      if (of === LATIN) {
        latin++
        run = 0
      } else {
        if (of === HIGH) high++
        else signs++
        run++
        if (run > longestRun) longestRun = run
      }
    }
    if (latin > 0 && high + signs === 0) latinWords++
    else if (latin > 0) {
      votes += longestRun > 2 ? -STRONG : STRONG
      latinWords++
    } else if (high === 0) {
      // ¿, £, º, ² and the like: next to a digit a western sign, as a separate word a Cyrillic letter.
      const touchesDigit = isDigit(bytes[start - 1]) || isDigit(bytes[at])
      votes += touchesDigit ? WEAK * 2 : -WEAK
    } else if (high + signs > 1) votes -= STRONG
    else if (WESTERN_WORDS.has(first)) westernWords++
    else votes -= WEAK
  }
  return votes + (latinWords > 0 ? westernWords : -westernWords)
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 48 && byte <= 57
