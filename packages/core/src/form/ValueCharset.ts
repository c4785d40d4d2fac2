/** Whether single values of a form are UTF-8, whatever the other values are. */
import { isUtf8 } from "node:buffer"
import { isCutUtf8, readsAsUtf8 } from "../text/CharsetGuess.ts"

/** `plain`: only ASCII, which is the same in every charset; `utf8`: UTF-8 beyond ASCII; `other`: not UTF-8. */
export type ValueKind = "plain" | "utf8" | "other"

/** Up to this length, our own loop is faster than a call into Node. */
const SHORT = 256

/** The kind of the bytes from `start` to `end`. */
export const kindOfValue = (bytes: Buffer, start: number, end: number): ValueKind => {
  let at = start
  while (at < end && bytes[at]! < 128) at++
  if (at === end) return "plain"
  const isValid = end - at > SHORT ? isUtf8(bytes.subarray(at, end)) : isShortUtf8(bytes, at, end)
  return isValid ? "utf8" : "other"
}

/**
 * Whether a value of the kind `other` is UTF-8 nevertheless: cut off at its end, or with a few broken bytes among many
 * letters.
 */
export const isDamagedUtf8 = (bytes: Buffer, start: number, end: number): boolean => {
  if (!couldBeUtf8(bytes, start, end)) return false
  const value = bytes.subarray(start, end)
  return isCutUtf8(value) || readsAsUtf8(value)
}

/** Rules out nearly all values in other charsets at little cost: in UTF-8, each letter has a byte that continues it. */
const couldBeUtf8 = (bytes: Buffer, start: number, end: number): boolean => {
  let continued = 0
  let others = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte < 128) continue
    if (byte < 0xc0) continued++
    else others++
  }
  return continued >= 3 && (others - 1) * 4 <= continued * 5
}

const isShortUtf8 = (bytes: Buffer, start: number, end: number): boolean => {
  for (let at = start; at < end;) {
    const lead = bytes[at]!
    if (lead < 128) {
      at++
      continue
    }
    const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
    if (length === 0 || at + length > end) return false
    const second = bytes[at + 1]!
    // Overlong forms, surrogates and code points above U+10FFFF differ from the others in their second byte.
    const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    if (second < least || second > most) return false
    for (let more = at + 2; more < at + length; more++) if ((bytes[more]! & 0xc0) !== 0x80) return false
    at += length
  }
  return true
}
