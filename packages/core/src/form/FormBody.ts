/**
 * Parses `application/x-www-form-urlencoded` as the URL standard defines it: `&` separates fields (not `;`), the first `=`
 * ends the name, `+` is a space, and a `%` without two hexadecimal digits is literal. The result stays bytes; the charset
 * is decided later.
 */
import { MAX_FORM_FIELDS, tooManyFields } from "./RawForm.ts"
import type { RawField, RawForm } from "./RawForm.ts"

const AMPERSAND = 38
const EQUALS = 61
const PLUS = 43
const PERCENT = 37

/** Accepts any bytes. Only a form of more than `limit` fields is not read to its end. */
export const parseFormBody = (body: Buffer, limit: number = MAX_FORM_FIELDS): RawForm => {
  const encoded = body.includes(PERCENT) || body.includes(PLUS)
  const bytes = encoded ? Buffer.allocUnsafe(body.length) : body
  const fields: Array<RawField> = []
  const end = body.length
  let to = 0
  for (let at = 0; at < end;) {
    if (body[at] === AMPERSAND) {
      at++
      if (encoded) bytes[to] = AMPERSAND
      to++
      continue
    }
    if (fields.length === limit) return tooManyFields(body, at, limit)
    const nameStart = to
    let nameEnd = -1
    for (; at < end; at++) {
      const byte = body[at]!
      if (byte === AMPERSAND) break
      if (byte === EQUALS && nameEnd === -1) nameEnd = to
      if (encoded) {
        if (byte === PLUS) bytes[to] = 32
        else if (byte === PERCENT && at + 2 < end && hexByte(body[at + 1]!, body[at + 2]!) !== -1) {
          bytes[to] = hexByte(body[at + 1]!, body[at + 2]!)
          at += 2
        } else bytes[to] = byte
      }
      to++
    }
    fields.push(
      nameEnd === -1
        ? { nameStart, nameEnd: to, valueStart: to, valueEnd: to, part: null }
        : { nameStart, nameEnd, valueStart: nameEnd + 1, valueEnd: to, part: null },
    )
  }
  return { bytes: bytes.subarray(0, to), fields, unread: null }
}

/** The byte that two hexadecimal digits encode, or -1. */
export const hexByte = (high: number, low: number): number => {
  const first = hexDigit(high)
  const second = hexDigit(low)
  return first === -1 || second === -1 ? -1 : first * 16 + second
}

const hexDigit = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
