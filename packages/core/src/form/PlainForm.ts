/**
 * Parses the `text/plain` form of HTML: one line `name=value` per field, without escapes. Applies only to bodies in the
 * exact form that browsers write; prose, logs and settings files that contain a `=` stay text.
 */
import { isNameByte } from "./FormGuess.ts"
import { MAX_FORM_FIELDS, tooManyFields } from "./RawForm.ts"
import type { RawField, RawForm } from "./RawForm.ts"

/**
 * Returns null if the body is not such a form. Every line must end in CRLF, including the last; the first line must
 * have a name before its `=`; and the tab is the only other control character allowed. A line without a name continues
 * the value before it, as the lines of a text area do. Writing `name=value` and CRLF for each field restores the body.
 */
export const parsePlainForm = (body: Buffer): RawForm | null => {
  const fields: Array<RawField> = []
  for (let at = 0; at < body.length;) {
    const start = at
    let equals = -1
    let named = true
    for (; body[at] !== CR; at++) {
      const byte = body[at]
      if (byte === undefined || (byte < 32 && byte !== TAB) || byte === 127) return null
      if (equals !== -1) continue
      if (byte === EQUALS) equals = at
      else named &&= isNameByte(byte)
    }
    if (body[at + 1] !== LF) return null
    if (equals > start && named && !NO_NAME.includes(body[start]!)) {
      if (fields.length === MAX_FORM_FIELDS) return tooManyFields(body, start, MAX_FORM_FIELDS)
      fields.push({ nameStart: start, nameEnd: equals, valueStart: equals + 1, valueEnd: at, part: null })
    } else {
      const before = fields.pop()
      if (before === undefined) return null
      fields.push({ ...before, valueEnd: at })
    }
    at += 2
  }
  return fields.length === 0 ? null : { bytes: body, fields, unread: null }
}

const TAB = 9
const LF = 10
const CR = 13
const EQUALS = 61

/** A name never begins with one of these. */
const NO_NAME = Buffer.from("{[&")
