/**
 * Removes a token from a request before any of it is stored. A header is dropped. A parameter of the query and a field of
 * the body keep their names, with `***` in place of the value, so that the event shows that a token was sent.
 */
import { type BodyKind, parseContentType } from "../form/ContentType.ts"
import { beginsAsJson, isMeantAsJson, multipartBoundaryOf, readsAsForm } from "../form/FormGuess.ts"
import { parseMultipartBody } from "../form/MultipartBody.ts"
import { parsePlainForm } from "../form/PlainForm.ts"
import type { RawField, RawForm } from "../form/RawForm.ts"
import { bufferOf, UTF_8 } from "../text/Charset.ts"
import { decodeJson, encodeJson, isWide, jsonCharset } from "../text/JsonCharset.ts"
import { jsonScalarsAt, type TextRange } from "./JsonMembers.ts"
import type { Place } from "./Recipe.ts"
import { MAX_FIELD_STEPS } from "./RequestFields.ts"
import type { IntakeVerification } from "./Verification.ts"
import type { ReceivedRequest } from "./VerifyRequest.ts"

const MASK = "***"

/** The parts of a request that may hold a token. */
type TokenRequest = Pick<ReceivedRequest, "headers" | "query" | "body">

/** Returns the same request unless its source compares a token. */
export const withoutToken = <R extends TokenRequest>(verification: IntakeVerification | null, request: R): R => {
  if (verification?.recipe !== "token") return request
  const { header, query, field }: Place = verification
  if (header !== undefined) {
    const { [header.toLowerCase()]: _, ...headers } = request.headers
    return { ...request, headers }
  }
  if (query !== undefined) return { ...request, query: maskedPairs(request.query, query) }
  return field === undefined ? request : { ...request, body: maskedBody(request, field) }
}

const decodedName = (name: string): string => {
  // Without the `&`, a question mark at the beginning of the name would be taken for the beginning of a query.
  const pair = new URLSearchParams(`&${name}=`).keys().next()
  return pair.done === true ? "" : pair.value
}

/** `text`: the pairs of a form, with each byte as a character, or those of a query. */
const maskedPairs = (text: string, name: string): string =>
  text
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=")
      if (equals === -1) return pair
      const raw = Buffer.from(pair.slice(0, equals), /[^\0-\xff]/.test(pair) ? "utf8" : "latin1").toString("utf8")
      return decodedName(raw) === name ? `${pair.slice(0, equals)}=${MASK}` : pair
    })
    .join("&")

const maskedBody = ({ body, headers }: TokenRequest, field: string): Uint8Array => {
  const { kind, boundary, charset } = parseContentType(headers["content-type"])
  const bytes = bufferOf(body)
  const legacy = jsonCharset(bytes, charset)
  // In these, a byte of a quote or a backslash may be half a letter.
  if (kind !== "multipart" && legacy !== UTF_8 && legacy.table === null) {
    const text = Buffer.from(decodeJson(bytes, legacy).text)
    if (isWide(legacy) || kind === "json" || kind === "lines" || isJson(text)) {
      const masked = maskedJson(text, field)
      return masked === text ? bytes : encodeJson(bufferOf(masked).toString(), bytes, legacy)
    }
  }
  if (kind === "multipart") return replaced(bytes, valuesIn(parseMultipartBody(bytes, boundary), field), MASK)
  // Each byte is a character, so that places in the text are places in the body.
  const text = bytes.toString("latin1")
  if (kind === "json" || kind === "lines" || isJson(bytes)) return maskedJson(bytes, field)
  const form = kind === "urlencoded" ? null : undeclaredForm(bytes, kind)
  return form === null ? Buffer.from(maskedPairs(text, field), "latin1") : replaced(bytes, valuesIn(form, field), MASK)
}

const maskedJson = (bytes: Buffer, field: string): Uint8Array => {
  const text = bytes.toString("latin1")
  const paths = [[field], field.split(".", MAX_FIELD_STEPS)]
  return replaced(
    bytes,
    paths.flatMap((path) => jsonScalarsAt(text, path)),
    `"${MASK}"`,
  )
}

/** Damaged JSON is kept as text, and its token must not be in it. */
const isJson = (bytes: Buffer): boolean => {
  if (isMeantAsJson(bytes)) return true
  if (!beginsAsJson(bytes)) return false
  try {
    JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""))
    return true
  } catch {
    return false
  }
}

/** A form that is not of pairs, as the event's parser recognises it. */
const undeclaredForm = (bytes: Buffer, kind: BodyKind): RawForm | null => {
  if (readsAsForm(bytes)) return null
  const boundary = multipartBoundaryOf(bytes)
  if (boundary !== null) return parseMultipartBody(bytes, boundary)
  return kind === "plain" ? parsePlainForm(bytes) : null
}

const valuesIn = ({ bytes, fields }: RawForm, field: string): ReadonlyArray<MaskedRange> =>
  fields.flatMap(({ nameStart, nameEnd, valueStart, valueEnd, part }) =>
    part?.file == null && bytes.toString("utf8", nameStart, nameEnd) === field
      ? [placeOf({ valueStart, valueEnd, part })]
      : [],
  )

/** A value in a transfer encoding is replaced where it was sent, by the encoded mask. */
const placeOf = ({ valueStart, valueEnd, part }: Pick<RawField, "valueStart" | "valueEnd" | "part">): MaskedRange => {
  const { start, end, encoding } = part?.encoded ?? { start: valueStart, end: valueEnd, encoding: null }
  return encoding === "base64" ? { start, end, by: Buffer.from(MASK).toString("base64") } : { start, end }
}

interface MaskedRange extends TextRange {
  readonly by?: string
}

const replaced = (bytes: Buffer, places: ReadonlyArray<MaskedRange>, mask: string): Uint8Array => {
  const pieces: Array<Uint8Array> = []
  let at = 0
  for (const { start, end, by = mask } of places.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue
    pieces.push(bytes.subarray(at, start), Buffer.from(by))
    at = end
  }
  return at === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(at)])
}
