/**
 * Detects forms among bodies that were not declared as forms. A body must look machine-encoded; prose, markup, URLs and
 * base64 can also contain a `=`, and are kept as text.
 */
import { boundaryInBody } from "./MultipartBody.ts"

/**
 * A body counts as an urlencoded form if it contains no white space, control character, quote, `<`, `>` or backslash; does
 * not begin with `{`, `[` or `&`; has no `/`, `?` or `#` in a name; and has at least one field with a non-empty name and a
 * value that is more than `=` signs.
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

/**
 * Whether a field's name can contain this byte in an undeclared form. Bytes that are typical of URLs and prose are
 * excluded.
 */
export const isNameByte = (byte: number): boolean =>
  byte > 32 && NEVER[byte] === 0 && byte !== 47 && byte !== 63 && byte !== 35

const NEVER = new Uint8Array(256)
for (const byte of Buffer.from('"<>\\`\x7f')) NEVER[byte] = 1

/**
 * The boundary of an undeclared multipart form: its first line must be a boundary and its first part must have a
 * disposition.
 */
export const multipartBoundaryOf = (body: Buffer): string | null => {
  const boundary = boundaryInBody(body)
  return boundary !== null &&
    /^--.*\r?\ncontent-disposition[ \t]*:[ \t]*form-data/i.test(body.toString("latin1", 0, 512))
    ? boundary
    : null
}

/**
 * Whether a body may be JSON in spite of a form's content type: its first byte after a byte order mark and white space is `{` or
 * `[`. `curl -d '{"a":1}'` declares any body as a form.
 */
export const beginsAsJson = (body: Buffer): boolean => {
  const begin = body[jsonBegin(body)]
  return begin === 123 || begin === 91
}

/**
 * Whether a body under a form's content type is meant as JSON even if it does not parse: it begins as an object with a name, or
 * as a list of objects or texts. A program that writes forms escapes braces and quotes.
 */
export const isMeantAsJson = (body: Buffer): boolean => {
  const at = jsonBegin(body)
  const next = body[afterSpace(body, at + 1)]
  return body[at] === 123 ? next === 34 : body[at] === 91 && (next === 34 || next === 123)
}

const jsonBegin = (body: Buffer): number =>
  afterSpace(body, body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)

const afterSpace = (body: Buffer, from: number): number => {
  let at = from
  while (body[at] === 32 || body[at] === 9 || body[at] === 10 || body[at] === 13) at++
  return at
}
