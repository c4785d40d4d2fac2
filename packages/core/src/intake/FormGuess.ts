/**
 * Whether a body that nobody called a form is one. It must look as if a program had encoded it; prose, markup, addresses
 * and base64, which may hold a `=` too, are kept as text.
 */
import { boundaryInBody } from "./MultipartBody.ts"

/**
 * A body reads as an urlencoded form if it has no white space, control character, quote, `<`, `>` or backslash; begins with
 * none of `{ [ &`; has no `/`, `?` or `#` in a name; and has at least one field with a name and with a value that is more
 * than `=` signs.
 */
export const readsAsForm = (body: Buffer): boolean => {
  if (body.length === 0 || body[0] === 123 || body[0] === 91 || body[0] === 38) return false
  let inName = true
  let nameLength = 0
  let filled = false
  for (const byte of body) {
    if (byte <= 32 || NEVER[byte] === 1) return false
    if (byte === 38) {
      inName = true
      nameLength = 0
    } else if (!inName) filled ||= nameLength > 0 && byte !== 61
    else if (byte === 61) inName = false
    else if (!isNameByte(byte)) return false
    else nameLength++
  }
  return filled
}

/** Whether a field's name may hold this byte where nobody said that there are fields: what addresses and prose hold may not. */
export const isNameByte = (byte: number): boolean =>
  byte > 32 && NEVER[byte] === 0 && byte !== 47 && byte !== 63 && byte !== 35

const NEVER = new Uint8Array(256)
for (const byte of Buffer.from('"<>\\`\x7f')) NEVER[byte] = 1

/** The boundary of a body that reads as a multipart form: its first line shows one and its first part has a disposition. */
export const multipartBoundaryOf = (body: Buffer): string | null => {
  const boundary = boundaryInBody(body)
  return boundary !== null &&
    /^--.*\r?\ncontent-disposition[ \t]*:[ \t]*form-data/i.test(body.toString("latin1", 0, 512))
    ? boundary
    : null
}
