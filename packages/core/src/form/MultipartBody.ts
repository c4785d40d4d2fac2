/**
 * Parses `multipart/form-data` (RFC 7578) from a complete body. Lenient where senders are careless and the meaning is
 * clear: lines that end with `\n` alone, a missing last boundary, a missing `boundary` in the header. Nothing unreadable is
 * dropped: the result says where reading ended, and the caller keeps the rest as text.
 */
import { parsePartHeaders } from "./PartHeaders.ts"
import { DecodedValues } from "./DecodedValues.ts"
import { MAX_FORM_FIELDS, tooManyFields } from "./RawForm.ts"
import type { RawField, RawForm } from "./RawForm.ts"

const DASH = 45

/** `boundary` as given in the header; if it is null or not in the body, the body's first line determines it. */
export const parseMultipartBody = (body: Buffer, boundary: string | null, limit: number = MAX_FORM_FIELDS): RawForm => {
  const first = firstBoundary(body, boundary) ?? firstBoundary(body, boundaryInBody(body))
  if (first === null) {
    const reason =
      boundary === null ? "the content type names no boundary" : "no part begins with the boundary of the header"
    return { bytes: body, fields: [], unread: { reason, offset: 0, from: 0, to: body.length } }
  }
  const newline = first.crlf ? "\r\n" : "\n"
  const delimiter = Buffer.concat([Buffer.from(newline), first.dashed])
  const blankLine = Buffer.from(newline + newline)
  const fields: Array<RawField> = []
  const decoded = new DecodedValues(body)
  let unread: RawForm["unread"] = null
  let at = first.line.next
  let last = first.line.last
  while (!last) {
    const end = nextBoundary(body, delimiter, at - newline.length)
    const partEnd = end?.at ?? withoutCutDelimiter(body, delimiter, newline.length, at)
    if (partEnd > at) {
      if (fields.length === limit) return tooManyFields(body, at, limit)
      const bare = body.indexOf(newline, at) === at
      const headersEnd = bare ? at : body.indexOf(blankLine, at)
      if (headersEnd === -1 || headersEnd + newline.length > partEnd) {
        unread = {
          reason: "the headers of a part do not end with an empty line",
          offset: at,
          from: at,
          to: body.length,
        }
        break
      }
      const contentStart = Math.min(headersEnd + (bare ? newline : blankLine).length, partEnd)
      fields.push(fieldOf(body, at, headersEnd, contentStart, partEnd, decoded))
    }
    if (end === null) break
    at = end.line.next
    last = end.line.last
  }
  return { bytes: decoded.behindBody(), fields, unread }
}

/** The boundary in the first line of a body, for senders that did not declare it; null if there is none. */
export const boundaryInBody = (body: Buffer): string | null => {
  if (body[0] !== DASH || body[1] !== DASH) return null
  const end = body.subarray(0, 256).indexOf(10)
  const boundary = end === -1 ? "" : body.toString("latin1", 2, end).trimEnd()
  return boundary === "" ? null : boundary
}

const fieldOf = (
  body: Buffer,
  at: number,
  headersEnd: number,
  sentStart: number,
  sentEnd: number,
  decoded: DecodedValues,
): RawField => {
  const { name, file, charset, encoding } = parsePartHeaders(body, at, headersEnd)
  const encoded = encoding === null ? undefined : decoded.add(sentStart, sentEnd, encoding)
  const { start: valueStart, end: valueEnd } = encoded?.value ?? { start: sentStart, end: sentEnd }
  const blank = file !== null && valueStart === valueEnd && nameIsEmpty(file.name)
  const place = typeof name === "string" ? null : name
  return {
    nameStart: place?.start ?? at,
    nameEnd: place?.end ?? at,
    valueStart,
    valueEnd,
    part: {
      charset,
      name: typeof name === "string" ? name : null,
      // A file input that was left blank is sent as a file without a name and without content.
      file: blank ? null : file,
      ...(encoded === undefined ? {} : { encoded }),
    },
  }
}

const nameIsEmpty = (name: string | { readonly start: number; readonly end: number }): boolean =>
  typeof name === "string" ? name === "" : name.start === name.end

interface BoundaryLine {
  readonly next: number
  readonly last: boolean
}

/**
 * What follows a boundary: the end of the line, or the two dashes of the last boundary; null for text that merely begins
 * like a boundary.
 */
const boundaryLine = (body: Buffer, from: number): BoundaryLine | null => {
  if (body[from] === DASH && (body[from + 1] === DASH || from + 1 === body.length))
    return { next: from + 2, last: true }
  let at = from
  while (body[at] === 32 || body[at] === 9) at++
  if (at === body.length) return { next: at, last: true }
  if (body[at] === 10) return { next: at + 1, last: false }
  return body[at] === 13 && body[at + 1] === 10 ? { next: at + 2, last: false } : null
}

const firstBoundary = (body: Buffer, boundary: string | null) => {
  if (boundary === null || boundary === "") return null
  const dashed = Buffer.from(`--${boundary}`, "latin1")
  for (let at = body.indexOf(dashed); at !== -1; at = body.indexOf(dashed, at + 1)) {
    const line = at === 0 || body[at - 1] === 10 ? boundaryLine(body, at + dashed.length) : null
    if (line === null) continue
    const crlf = line.last ? true : body[line.next - 2] === 13
    return { dashed, line, crlf }
  }
  return null
}

const nextBoundary = (body: Buffer, delimiter: Buffer, from: number) => {
  for (let at = body.indexOf(delimiter, from); at !== -1; at = body.indexOf(delimiter, at + 1)) {
    const line = boundaryLine(body, at + delimiter.length)
    if (line !== null) return { at, line }
  }
  return null
}

/** Where the last part ends in a truncated body, which may end inside its last boundary. */
const withoutCutDelimiter = (body: Buffer, delimiter: Buffer, newline: number, from: number): number => {
  for (let length = Math.min(delimiter.length, body.length - from); length >= newline; length--) {
    if (body.subarray(body.length - length).equals(delimiter.subarray(0, length))) return body.length - length
  }
  return body.length
}
