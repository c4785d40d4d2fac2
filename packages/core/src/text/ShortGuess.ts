/**
 * Doubts a few bytes that read as Cyrillic although they look like characters of two bytes each, as Shift_JIS, EUC-KR,
 * GB18030 and Big5 have them. Ratings of letters say too little about so few of them.
 */
import { decode, WINDOWS_1251 } from "./Charset.ts"

/** Two letters that form a whole value often enough. Any other two are as likely one letter of an Asian charset. */
const WORDS = new Set(
  "да не на по до из от за во ко об ни но то мы вы он ты их ей им её же ли та ні що ми ви їх як це зі кг кв ср".split(
    " ",
  ),
)

/** Windows-1251 letters: Ё, ё, other Cyrillic ones, and А to я. */
const isLetter = (byte: number): boolean => byte >= 0xc0 || OTHER_LETTERS.has(byte)
const OTHER_LETTERS = new Set([
  0x80, 0x81, 0x83, 0x8a, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x9a, 0x9c, 0x9d, 0x9e, 0x9f, 0xa1, 0xa2, 0xa3, 0xa5, 0xa8, 0xaa, 0xaf, 0xb2,
  0xb3, 0xb4, 0xb8, 0xba, 0xbc, 0xbd, 0xbe, 0xbf,
]) // prettier-ignore

const isWord = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122))

/** `…`, `№` and the no-break space stand before words, too. */
const BEFORE_WORDS = new Set([0x85, 0xa0, 0xb9])

/** ASCII that may be the second byte of a character. */
const isTrail = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x40 && byte < 0x7f

/** A sign at the beginning of a word: in Asian charsets, the second byte of a character may be an ASCII letter. */
const beginsWord = (bytes: Buffer, at: number): boolean =>
  !BEFORE_WORDS.has(bytes[at]!) && !isWord(bytes[at - 1]) && isTrail(bytes[at + 1])

/** Runs of bytes above 127, as offsets. */
const runsOf = (bytes: Buffer): ReadonlyArray<readonly [start: number, end: number]> => {
  const runs: Array<readonly [number, number]> = []
  for (let at = 0; at < bytes.length; at++) {
    const start = at
    while (at < bytes.length && bytes[at]! > 127) at++
    if (at > start) runs.push([start, at])
  }
  return runs
}

const isCapital = (character: string): boolean => character !== character.toLowerCase()
const isSmall = (character: string): boolean => character !== character.toUpperCase()

/** A sign between letters, a capital behind a small letter, or a small letter behind two capitals. */
const isOddWord = (run: Buffer): boolean => {
  if (run.subarray(1, -1).some((byte) => !isLetter(byte))) return true
  const text = decode(run, WINDOWS_1251).text
  return text.split("").some((character, at) => {
    const [before = "", last = ""] = [text[at - 2], text[at - 1]]
    return isCapital(character) ? isSmall(last) : isSmall(character) && isCapital(last) && isCapital(before)
  })
}

/** For a text with at most four bytes above 127. */
export const mayBeTwoBytes = (bytes: Buffer): boolean => {
  const runs = runsOf(bytes)
  const [first] = runs
  if (first === undefined) return false
  const [start, end] = first
  if (runs.every(([from, to]) => bytes.subarray(from, to).every((byte) => !isLetter(byte)))) {
    if (runs.length === 1 && end - start === 2) return true
    return beginsWord(bytes, start) && runs.every(([from, to]) => to - from === 1 && isTrail(bytes[to]))
  }
  const isUnusual = ([from, to]: readonly [number, number]) =>
    to - from === 2 && !WORDS.has(decode(bytes, WINDOWS_1251, from, to).text.toLowerCase())
  if (runs.every(isUnusual)) return true
  return runs.some(([from, to]) => isOddWord(bytes.subarray(from, to)))
}
