/**
 * The `text/plain` form of HTML: a line `name=value` for each field, nothing escaped. It is read only where the body looks as
 * browsers write it; prose, logs and settings that hold a `=` too stay text.
 */
import { isNameByte } from "./FormGuess.ts"
import { MAX_FORM_FIELDS, tooManyFields } from "./RawForm.ts"
import type { RawField, RawForm } from "./RawForm.ts"

/**
 * Null where it does not read as such a form: every line ends in CRLF, the last one too, the first has a name before its
 * `=`, and there is no other control character but the tab. A line without a name goes on with the value before it, as the
 * lines of a text area do. Joined again, `name=value` and CRLF for each field give the body.
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
  return fields.length === 0 ? null : { bytes: body, fields, evidence: body, unread: null }
}

const TAB = 9
const LF = 10
const CR = 13
const EQUALS = 61

/** No name begins with one of these. */
const NO_NAME = Buffer.from("{[&")
