/**
 * Removes the `Content-Transfer-Encoding` of a part of a multipart body. RFC 7578 deprecates it, but mail programs and old
 * libraries still encode their parts. A value that does not match its encoding stays as sent, and the fault says where.
 */
import { charsetOf } from "../text/Charset.ts"
import { hexByte } from "./FormBody.ts"

/** The encodings that are removed. */
export type TransferEncoding = "base64" | "quoted-printable"

/** What is wrong, in words, and where in the value. */
export interface TransferFault {
  readonly reason: string
  readonly offset: number
}

/** Names, besides charsets, that senders use for a value that is not encoded. */
const NOT_ENCODED: ReadonlySet<string> = new Set(["", "7bit", "8bit", "binary", "identity", "none"])

/** The encoding that a header names; null if the value is not encoded, and the name itself if it is unknown. */
export const transferEncodingOf = (header: string): TransferEncoding | { readonly unknown: string } | null => {
  const name = header
    .replace(/[;(].*$/s, "")
    .trim()
    .replace(/^"(.*)"$/, "$1")
    .toLowerCase()
  if (name === "base64" || name === "quoted-printable") return name
  return NOT_ENCODED.has(name) || charsetOf(name) !== null
    ? null
    : { unknown: name.slice(0, MAX_NAME).replaceAll(/[^ -~]/g, "?") }
}

const MAX_NAME = 40

/** The decoded value, or why it cannot be decoded. */
export const withoutTransferEncoding = (value: Buffer, encoding: TransferEncoding): Buffer | TransferFault =>
  encoding === "base64" ? fromBase64(value) : fromQuotedPrintable(value)

/**
 * Accepts line breaks and spaces anywhere, and missing padding. Anything else that Node would skip or ignore is a fault,
 * because the value could not be restored from the result.
 */
const fromBase64 = (value: Buffer): Buffer | TransferFault => {
  const fault = (offset: number) => ({ reason: "not valid base64", offset })
  let end = value.length
  let padding = 0
  while (end > 0 && (value[end - 1] === EQUALS || isSpace(value[end - 1]!))) if (value[--end] === EQUALS) padding++
  const text = value.toString("latin1", 0, end)
  const stray = text.search(/[^A-Za-z0-9+/ \t\r\n]/)
  if (stray !== -1) return fault(stray)
  const digits = text.replaceAll(/[ \t\r\n]+/g, "")
  const decoded = Buffer.from(digits, "base64")
  return padding > 2 || !decoded.toString("base64").startsWith(digits) ? fault(end) : decoded
}

const isSpace = (byte: number): boolean => byte === 32 || byte === 9 || byte === 10 || byte === 13

const EQUALS = 61

/** Characters outside ASCII and spaces at the ends of lines stay: HTTP neither adds nor removes any. */
const fromQuotedPrintable = (value: Buffer): Buffer | TransferFault => {
  const decoded = Buffer.allocUnsafe(value.length)
  let length = 0
  for (let at = 0; at < value.length;) {
    const byte = value[at]!
    if (byte !== EQUALS) {
      decoded[length++] = byte
      at++
      continue
    }
    const escaped = at + 2 < value.length ? hexByte(value[at + 1]!, value[at + 2]!) : -1
    if (escaped !== -1) {
      decoded[length++] = escaped
      at += 3
      continue
    }
    const next = afterSoftBreak(value, at + 1)
    if (next === -1) return { reason: "not valid quoted-printable", offset: at }
    at = next
  }
  return decoded.subarray(0, length)
}

/** The offset after the soft line break at `from`, which the end of the value may cut short; -1 if there is none. */
const afterSoftBreak = (value: Buffer, from: number): number => {
  let at = from
  while (value[at] === 32 || value[at] === 9) at++
  if (at === value.length || value[at] === 10) return Math.min(at + 1, value.length)
  return value[at] === 13 && value[at + 1] === 10 ? at + 2 : -1
}
