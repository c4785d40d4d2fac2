/** Reads single fields of a request before its body is parsed: some senders put their token or signature into one. */
import { parseContentType } from "../form/ContentType.ts"
import { parseFormBody } from "../form/FormBody.ts"
import { parseMultipartBody } from "../form/MultipartBody.ts"
import type { RawForm } from "../form/RawForm.ts"
import { bufferOf } from "../text/Charset.ts"
import { decodeJson, jsonCharset } from "../text/JsonCharset.ts"

/** Keyed by lower-case name, as received. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>

/** Returns the value of a field; undefined if the field is missing, or is neither a text nor a whole number. */
export type FieldReader = (path: string) => string | undefined

interface FieldsOf {
  readonly headers: RequestHeaders
  readonly body: Uint8Array
}

/** A path of names has no more steps than this. */
export const MAX_FIELD_STEPS = 8

/**
 * Reads fields of the body: of a form by name, of a JSON object by name or by a path of names with dots between them. The
 * body is read at the first call.
 */
export const bodyFields = (request: FieldsOf): FieldReader => {
  let read: FieldReader | undefined
  return (path) => (read ??= readerOf(request))(path)
}

const NOTHING: FieldReader = () => undefined

const readerOf = ({ headers, body }: FieldsOf): FieldReader => {
  const { kind, boundary, charset } = parseContentType(headers["content-type"])
  const bytes = bufferOf(body)
  if (kind === "multipart") return formReader(parseMultipartBody(bytes, boundary))
  const object = jsonObjectIn(bytes, charset)
  if (object !== null) return (path) => scalarText(valueAt(object, path))
  return kind === "json" ? NOTHING : formReader(parseFormBody(bytes))
}

type JsonRecord = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Null for a body that is not an object as JSON. `declared`: the sender's label of its charset. */
export const jsonObjectIn = (body: Uint8Array, declared: string | null = null): JsonRecord | null => {
  try {
    const bytes = bufferOf(body)
    const parsed: unknown = JSON.parse(decodeJson(bytes, jsonCharset(bytes, declared)).text.replace(/^\uFEFF/, ""))
    return isRecord(parsed) ? parsed : null
  } catch {
    return null
  }
}

const valueAt = (object: JsonRecord, path: string): unknown => {
  if (Object.hasOwn(object, path)) return object[path]
  let value: unknown = object
  for (const step of path.split(".", MAX_FIELD_STEPS)) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]
  }
  return value
}

const scalarText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : Number.isSafeInteger(value) ? String(value) : undefined

/** The first field of the name counts. A file is not a value. */
const formReader =
  ({ bytes, fields }: RawForm): FieldReader =>
  (name) => {
    const found = fields.find(
      ({ nameStart, nameEnd, part }) => part?.file == null && bytes.toString("utf8", nameStart, nameEnd) === name,
    )
    return found === undefined ? undefined : bytes.toString("utf8", found.valueStart, found.valueEnd)
  }

/** The first value of a parameter of this address. */
export const queryParameter = (url: string, name: string): string | undefined => {
  const mark = url.indexOf("?")
  return mark === -1 ? undefined : (new URLSearchParams(url.slice(mark + 1)).get(name) ?? undefined)
}
