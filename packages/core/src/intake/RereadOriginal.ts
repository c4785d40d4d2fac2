/**
 * Reads the kept bytes of a request in another charset, and replaces the old readings in its event. Fields that do not come
 * from these bytes stay: those of headers, and of a query that was not kept. An ASCII value must be the same in the event and in
 * the bytes; otherwise nothing changes, because the bytes are not the event's.
 *
 * Decision: docs/decisions/0081-events-are-read-again-in-place.md
 */
import { isUtf8 } from "node:buffer"
import { type Json, type JsonObject, isJsonList } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import {
  bufferOf,
  type Charset,
  charsetOf,
  decode,
  isAscii,
  UTF_8,
  WINDOWS_1251,
  WINDOWS_1252,
  type CharsetDecidedBy,
} from "../text/Charset.ts"
import { parseContentType } from "../form/ContentType.ts"
import { gatherFields } from "./Fields.ts"
import { parseFormBody } from "../form/FormBody.ts"
import { rereadCharsets } from "../form/FormCharsets.ts"
import { isMeantAsJson, multipartBoundaryOf, readsAsForm } from "../form/FormGuess.ts"
import { decodeForm, decodeRest } from "../form/FormText.ts"
import { parseMultipartBody } from "../form/MultipartBody.ts"
import { flatFields, nestedFields } from "./NestedFields.ts"
import type { OtherReading, ReadingPlace } from "../event/OtherReadings.ts"
import { isProofField } from "../proof/FormProof.ts"
import { queryBytes } from "./ParseSubmission.ts"
import { unescapeName } from "../form/PartHeaders.ts"
import { parsePlainForm } from "../form/PlainForm.ts"
import type { RawForm } from "../form/RawForm.ts"
import { rereadJson, textOf } from "./RereadJson.ts"

/** The parts of a stored request that explain its event. */
export interface ReadableOriginal {
  readonly body: Uint8Array
  /** The size of the body as received; more than `body` has if only its beginning was kept. */
  readonly bodyBytes: number
  readonly contentType: string | null
  /** The query string, if it was kept. */
  readonly query: string | null
  /** How it was read last. */
  readonly charset: string
  readonly charsetFrom: string
  readonly others?: ReadonlyArray<OtherReading>
}

/** How an original request is to be read. */
export interface RereadAs {
  readonly charset: Charset
  /** Whether values that are valid UTF-8 are also read in the charset. */
  readonly allValues: boolean
}

/**
 * `cut_body`: only the beginning of the body was kept; `encoded_body`: its content encoding could not be removed; `not_a_form`:
 * it is JSON that shows its own charset; `no_text`: every kept byte is ASCII; `unexplained`: the event's fields are not
 * those of the kept bytes.
 */
export const UNREADABLE_REASONS = ["cut_body", "encoded_body", "not_a_form", "no_text", "unexplained"] as const
/** One of `UNREADABLE_REASONS`. */
export type UnreadableReason = (typeof UNREADABLE_REASONS)[number]

/** A value that reads differently now. */
export interface ChangedValue {
  /** The field's name as now read. */
  readonly field: string
  /** The field's name before; null if it is the same. */
  readonly fieldBefore: string | null
  readonly before: string
  readonly after: string
}

/** The result of rereading an original request. */
export interface Reread {
  readonly payload: JsonObject
  /** The payload as JSON. */
  readonly text: string
  readonly charset: string
  readonly charsetFrom: CharsetDecidedBy
  readonly replaced: number
  readonly others: ReadonlyArray<OtherReading>
  /** Empty if the event is read as before. */
  readonly changed: ReadonlyArray<ChangedValue>
}

/** Total: any bytes with any event give a reading or a reason. */
export const rereadOriginal = (
  original: ReadableOriginal,
  payload: JsonObject,
  as: RereadAs,
): Reread | UnreadableReason => {
  const { charset, charsetFrom, contentType, query } = original
  const body = bufferOf(original.body)
  if (charsetFrom === "content_encoding") return "encoded_body"
  if (original.bodyBytes > body.length) return charsetFrom === "json" && isUtf8(body) ? "not_a_form" : "cut_body"
  const address = query === null || query === "" ? null : queryBytes(query)
  const past = pastCharsets(charset, original.others ?? [], as.charset)
  const json = rereadJson(body, contentType, payload, past, as)
  if (json !== null) return json
  const ofQuery = address === null ? NOTHING : piecesOf(parseFormBody(address), "query", past, as, false)
  const ofBody = body.length === 0 ? NOTHING : bodyPieces(body, contentType, past, as)
  // A proof of a person is not part of the event.
  const pieces = [...ofQuery.pieces, ...ofBody.pieces].filter(({ name }) => payload.has(name) || !isProofField(name))
  if (pieces.every(({ plain }) => plain)) return "no_text"
  const merged = merge(payload, pieces) ?? mergeNested(payload, pieces)
  if (merged === null) return "unexplained"
  return {
    ...merged,
    text: jsonText(merged.payload),
    charset: as.charset.name,
    charsetFrom: "reread",
    replaced: ofQuery.replaced + ofBody.replaced,
    others: [...ofBody.others, ...ofQuery.others],
  }
}

/** A value in the bytes: the names that it may have in the event, and how it reads now. */
interface Piece {
  readonly names: ReadonlyArray<string>
  readonly name: string
  readonly value: Json
  /** Only ASCII, which has one reading. */
  readonly plain: boolean
}

interface Pieces {
  readonly pieces: ReadonlyArray<Piece>
  readonly replaced: number
  readonly others: ReadonlyArray<OtherReading>
}

const NOTHING: Pieces = { pieces: [], replaced: 0, others: [] }

/** The charsets in which names may have been read before, the likeliest first. */
const pastCharsets = (
  recorded: string,
  others: ReadonlyArray<OtherReading>,
  asNow: Charset,
): ReadonlyArray<Charset> => {
  const named = [recorded, ...others.map(({ name }) => name)].flatMap((name) => charsetOf(name) ?? [])
  return [...new Set([...named, UTF_8, asNow, WINDOWS_1251, WINDOWS_1252])]
}

const piecesOf = (
  form: RawForm,
  place: ReadingPlace,
  past: ReadonlyArray<Charset>,
  as: RereadAs,
  isBody: boolean,
): Pieces => {
  const { bytes, fields, unread } = form
  const charsets = rereadCharsets(form, as.charset, as.allValues)
  const read = decodeForm(form, charsets, place, as.charset)
  const pieces = fields.map(({ nameStart, nameEnd, valueStart, valueEnd, part }, index): Piece => {
    const [name, value] = read.fields[index]!
    const nameIn = (charset: Charset) => {
      const { text } = decode(bytes, charset, nameStart, nameEnd)
      return part === null ? text : unescapeName(text)
    }
    const isPlainName = isAscii(bytes, nameStart, nameEnd)
    // A value that is decoded now may have been kept as sent before.
    const isPlainValue =
      part?.file == null
        ? part?.encoded === undefined && isAscii(bytes, valueStart, valueEnd)
        : isPlainFileName(bytes, part.file.name)
    // Before `name*` was read, such a field had an empty name.
    const names = part?.name != null ? [name, ""] : isPlainName ? [name] : [...new Set(past.map(nameIn))]
    return { names, name, value, plain: isPlainName && isPlainValue }
  })
  if (unread === null || !isBody) return { pieces, replaced: read.replaced, others: read.others }
  const rest = decodeRest(bytes, charsets, unread)
  const raw: Piece = { names: ["_raw"], name: "_raw", value: rest.text, plain: isAscii(bytes, unread.from, unread.to) }
  return { pieces: [...pieces, raw], replaced: read.replaced + rest.replaced, others: read.others }
}

const isPlainFileName = (bytes: Buffer, name: string | { readonly start: number; readonly end: number }): boolean =>
  typeof name === "string" || isAscii(bytes, name.start, name.end)

/** Splits the body as intake did: by its content type, knowing that it was not JSON. */
const bodyPieces = (body: Buffer, contentType: string | null, past: ReadonlyArray<Charset>, as: RereadAs): Pieces =>
  piecesOf(formIn(body, contentType), "body", past, as, true)

const formIn = (body: Buffer, contentType: string | null): RawForm => {
  const { kind, boundary } = parseContentType(contentType ?? undefined)
  const text = { bytes: body, fields: [], unread: { reason: "", offset: 0, from: 0, to: body.length } }
  if (kind === "urlencoded") return isMeantAsJson(body) ? text : parseFormBody(body)
  if (kind === "multipart") return parseMultipartBody(body, boundary)
  if (readsAsForm(body)) return parseFormBody(body)
  const guessed = multipartBoundaryOf(body)
  if (guessed !== null) return parseMultipartBody(body, guessed)
  const plain = kind === "plain" ? parsePlainForm(body) : null
  return plain ?? text
}

/** The event with the pieces in place; null if the pieces do not belong to the event. */
const merge = (payload: JsonObject, pieces: ReadonlyArray<Piece>): Pick<Reread, "payload" | "changed"> | null => {
  const byName = new Map<string, Array<Piece>>()
  for (const piece of pieces) {
    const held = piece.names.find((name) => payload.has(name))
    if (held === undefined) return null
    const beside = byName.get(held)
    if (beside === undefined) byName.set(held, [piece])
    else beside.push(piece)
  }
  const fields: Array<readonly [name: string, value: Json]> = []
  const changed: Array<ChangedValue> = []
  for (const [name, held] of payload) {
    const its = byName.get(name) ?? []
    const values: ReadonlyArray<Json> = isJsonList(held) ? held : [held]
    // Values of headers, and of a query that was not kept, come before those of the bytes.
    const begin = values.length - its.length
    if (begin < 0) return null
    for (const [index, value] of values.entries()) {
      const piece = index < begin ? undefined : its[index - begin]!
      if (piece === undefined) {
        fields.push([name, value])
        continue
      }
      if (!couldBe(value, piece)) return null
      fields.push([piece.name, piece.value])
      const difference = differenceOf(name, value, piece)
      if (difference !== null) changed.push(difference)
    }
  }
  return { payload: gatherFields(fields), changed }
}

/** The same for an event whose fields were nested by the brackets in their names: it is flattened, read again and nested. */
const mergeNested: typeof merge = (payload, pieces) => {
  const sent = pieces.map(({ names }) => names)
  const flat = flatFields(payload, sent)
  const merged = flat === null ? null : merge(flat, pieces)
  return merged === null ? null : { ...merged, payload: nestedFields(merged.payload) }
}

const couldBe = (before: Json, { value, plain }: Piece): boolean =>
  typeof before === typeof value && (!plain || typeof value !== "string" || before === value)

const differenceOf = (name: string, value: Json, piece: Piece): ChangedValue | null => {
  const [before, after] = [textOf(value), textOf(piece.value)]
  if (name === piece.name && before === after) return null
  return { field: piece.name, fieldBefore: name === piece.name ? null : name, before, after }
}
