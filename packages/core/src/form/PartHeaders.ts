/**
 * Parses the headers of one part of a multipart body: the name of its field, and the metadata of a file. Names stay offsets
 * in the body, because their charset is not known yet.
 */
import { charsetOf, decode, UTF_8 } from "../text/Charset.ts"
import { hexByte } from "./FormBody.ts"
import { paramText, parseHeaderValue } from "./HeaderValue.ts"
import type { HeaderParam } from "./HeaderValue.ts"
import type { RawFile } from "./RawForm.ts"
import { type TransferEncoding, transferEncodingOf } from "./TransferEncoding.ts"

export interface PartHeaders {
  /** The offsets of `name`, or the text of `name*`. Null for a part without a name: it becomes a field with an empty name. */
  readonly name: { readonly start: number; readonly end: number } | string | null
  readonly file: RawFile | null
  readonly charset: string | null
  /** Null for a value that is not encoded. */
  readonly encoding: TransferEncoding | { readonly unknown: string } | null
}

/** Parses the header lines between `start` and `end` of the body; unknown lines are skipped. */
export const parsePartHeaders = (body: Buffer, start: number, end: number): PartHeaders => {
  const text = body.toString("latin1", start, end)
  // Nearly every part has only this one header line; the fast path takes a tenth of the time.
  if (
    text.startsWith(PLAIN_FIELD) &&
    text.indexOf('"', PLAIN_FIELD.length) === text.length - 1 &&
    !/[\\\n]/.test(text)
  ) {
    return { name: { start: start + PLAIN_FIELD.length, end: end - 1 }, file: null, charset: null, encoding: null }
  }
  let name: PartHeaders["name"] = null
  let fileName: RawFile["name"] | null = null
  let type: string | null = null
  let charset: string | null = null
  let encoding: PartHeaders["encoding"] = null
  for (const line of linesOf(text)) {
    const value = text.slice(line.valueStart, line.end)
    if (line.name === "content-disposition") {
      const { params } = parseHeaderValue(value)
      const place = (param: HeaderParam | undefined) =>
        param === undefined
          ? null
          : { start: start + line.valueStart + param.start, end: start + line.valueStart + param.end }
      const extendedOf = (param: HeaderParam | undefined) =>
        param === undefined ? null : extendedText(value.slice(param.start, param.end))
      name = place(params.get("name")) ?? extendedOf(params.get("name*")) ?? place(params.get("name*"))
      const extended = params.get("filename*")
      fileName = extendedOf(extended) ?? place(params.get("filename") ?? extended)
    } else if (line.name === "content-type") {
      type = value.trim().replaceAll("\0", "\uFFFD")
      charset = paramText(value, parseHeaderValue(value).params.get("charset"))
    } else if (line.name === "content-transfer-encoding") {
      encoding = transferEncodingOf(value)
    }
  }
  const file = fileName === null ? null : { name: fileName, type: type ?? "application/octet-stream" }
  return { name, file, charset, encoding }
}

const PLAIN_FIELD = 'Content-Disposition: form-data; name="'

interface HeaderLine {
  readonly name: string
  readonly valueStart: number
  readonly end: number
}

/** Header lines joined with their continuations, each of which begins with white space. */
const linesOf = (text: string): ReadonlyArray<HeaderLine> => {
  const lines: Array<HeaderLine> = []
  for (let at = 0; at < text.length;) {
    let end = text.indexOf("\n", at)
    while (end !== -1 && (text[end + 1] === " " || text[end + 1] === "\t")) end = text.indexOf("\n", end + 1)
    if (end === -1) end = text.length
    const line = text.slice(at, end)
    const colon = line.indexOf(":")
    if (colon !== -1) {
      const name = line.slice(0, colon).trim().toLowerCase()
      lines.push({ name, valueStart: at + colon + 1, end: line.endsWith("\r") ? end - 1 : end })
    }
    at = end + 1
  }
  return lines
}

/**
 * Decodes `charset'language'percent-encoded` (RFC 5987); an unknown charset is read as UTF-8. Null if the two quotes are
 * missing.
 */
const extendedText = (value: string): string | null => {
  const [, label, encoded] = /^([^']*)'[^']*'(.*)$/s.exec(value) ?? []
  if (label === undefined || encoded === undefined) return null
  const bytes = Buffer.from(encoded, "latin1")
  let to = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] === 37 && at + 2 < bytes.length ? hexByte(bytes[at + 1]!, bytes[at + 2]!) : -1
    bytes[to++] = byte === -1 ? bytes[at]! : byte
    if (byte !== -1) at += 2
  }
  return decode(bytes, charsetOf(label) ?? UTF_8, 0, to).text
}

/**
 * Undoes the escapes that browsers and curl use for quotes and line ends in a quoted name. Runs one replacement after the
 * other, without a callback per match: callbacks for a megabyte of escapes would block the event loop. No replacement can
 * create another escape, because neither a quote nor a line end is a hexadecimal digit.
 */
export const unescapeName = (name: string): string => {
  const plain = name.includes("\\") ? name.replaceAll(/\\(["\\])/g, "$1") : name
  return plain.includes("%")
    ? plain
        .replaceAll("%22", '"')
        .replaceAll(/%0[Dd]/g, "\r")
        .replaceAll(/%0[Aa]/g, "\n")
    : plain
}
