/**
 * Parses a submission into events. Total: any bytes under any content type give a result. A body that does not parse is
 * kept in the event as text, with the reason in words.
 *
 * Decision: docs/decisions/0003-a-400-is-saved-empty.md
 */
import { Result } from "effect"
import { type FingerprintedEvent, fingerprintedEvent, fingerprintingEvent, withPayload } from "../event/Fingerprint.ts"
import { isFilled } from "../event/Payload.ts"
import { isJsonList } from "../json/Json.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { bufferOf, decode, UTF_8 } from "../text/Charset.ts"
import type { Charset } from "../text/Charset.ts"
import { type BodyKind, type ContentType, parseContentType } from "./ContentType.ts"
import { gatherFields, withQueryFields } from "./Fields.ts"
import { parseFormBody } from "./FormBody.ts"
import { beginsAsJson, multipartBoundaryOf, readsAsForm } from "./FormGuess.ts"
import { decideCharset, decideFormCharsets, decideQueryCharsets } from "./FormCharsets.ts"
import type { CharsetDecision, CharsetSignals, FormCharsets } from "./FormCharsets.ts"
import { decodeForm, decodeRest } from "./FormText.ts"
import { CELL_BYTES, emptyJsonNotes, jsonErrorInWords, parseJson } from "../json/ParseJson.ts"
import type { SentTexts } from "../json/JsonSlices.ts"
import { type JsonLines, MAX_BATCH, readJsonLines } from "./JsonLines.ts"
import { notAnObject } from "./NotAnObject.ts"
import { parseMultipartBody } from "./MultipartBody.ts"
import type { OtherReading } from "./OtherReadings.ts"
import { nestedFields } from "./NestedFields.ts"
import { parsePlainForm } from "./PlainForm.ts"
import type { RawForm } from "./RawForm.ts"
import type { ParsedEvent, ParsedSubmission, SentJson, Submission } from "./Submission.ts"

/** The memory that a field of an event takes besides its text. */
const FIELD_BYTES = 128

export const parseSubmission = (submission: Submission): ParsedSubmission => {
  const { objects, eventOf, whole } = readSubmission(submission)
  return whole(objects.map(eventOf))
}

/** A parsed submission whose events are not written yet, one per object. They can be far longer than the request. */
export interface ReadSubmission {
  /** Empty if there were too many. */
  readonly objects: ReadonlyArray<JsonObject>
  readonly eventOf: (object: JsonObject, place: number) => ParsedEvent
  /** Writes the event in pieces: each call writes about this many characters of it. */
  readonly writeEvent: (object: JsonObject, place: number) => (characters: number) => ParsedEvent | undefined
  /** The complete result, given the events of the objects in their order. */
  readonly whole: (events: ReadonlyArray<ParsedEvent>) => ParsedSubmission
}

/** Parses a submission, without writing its events yet. */
export const readSubmission = (submission: Submission): ReadSubmission => {
  const type = parseContentType(submission.contentType)
  const isForm = type.kind === "urlencoded" || type.kind === "multipart"
  const body = bufferOf(submission.body)
  const query = submission.query === "" ? NO_QUERY : parseFormBody(queryBytes(submission.query))
  const signals = { source: submission.encoding, header: type.charset }
  const read = bodyOf(body, type, signals, submission)

  const queryCharsets = decideQueryCharsets(query, signals, read.isForm ? read.decision.charset : null)
  const { decision } = body.length > 0 ? read : queryCharsets
  const address = queryFields(query, queryCharsets, decision.charset)
  const others = read.others === undefined ? address.others : [...read.others, ...address.others]
  const { refusal } = read
  const { headerFields, nestBrackets = false } = submission
  const objects = nestBrackets && read.isForm ? read.objects.map(nestedFields) : read.objects
  const eventOf = (object: JsonObject, place: number): ParsedEvent => {
    const sent =
      address.fields.size === 0
        ? fingerprintedEvent(object, read.sent?.of(object, place))
        : fingerprintedEvent(withQueryFields(address.fields, object))
    const event = headerFields === undefined ? sent : withPayload(sent, withQueryFields(headerFields, sent.payload))
    return refusal === null && !hasText ? event : judged(object, event)
  }
  const writeEvent = (object: JsonObject, place: number) => {
    const compared = withQueryFields(address.fields, object)
    const payload = headerFields === undefined ? compared : withQueryFields(headerFields, compared)
    const sent = payload === object ? read.sent?.whole(place) : undefined
    const write = fingerprintingEvent(payload, sent, compared)
    return (characters: number): ParsedEvent | undefined => {
      const event = write(characters)
      return event === undefined ? undefined : judged(object, event)
    }
  }
  // A body that gets a 400 is stored as empty, whatever fields the query has. The text of a body with its own content
  // type counts as a filled field.
  const hasText = read.keptAsRaw === true && (type.kind === "plain" || type.kind === "other")
  const judged = (object: JsonObject, event: FingerprintedEvent): ParsedEvent => {
    if (refusal !== null) return { ...event, empty: true }
    return hasText ? { ...event, empty: event.empty && !isFilled(object.get("_raw") ?? null) } : event
  }
  const memory = (events: ReadonlyArray<ParsedEvent>): number => {
    let bytes = (read.cells ?? 0) * CELL_BYTES
    for (const { text, payload } of events) bytes += text.length * 2 + payload.size * FIELD_BYTES
    return bytes
  }
  const count = read.count ?? objects.length
  const tooMany = count > MAX_BATCH ? { count, limit: MAX_BATCH } : null
  return {
    objects: tooMany === null ? objects : [],
    eventOf,
    writeEvent,
    whole: (events) => ({
      events,
      shape: read.shape,
      refusal,
      tooMany,
      isForm,
      memory: memory(events),
      charset: {
        name: decision.charset.name,
        decidedBy: decision.decidedBy,
        replaced: read.replaced + address.replaced,
        ...(others.length === 0 ? {} : { others }),
      },
    }),
  }
}

interface ReadBody {
  readonly objects: ReadonlyArray<JsonObject>
  /** The texts of the objects, if they can be cut out of the body for less than writing them. */
  readonly sent?: Pick<SentTexts, "of" | "whole">
  /** The number of objects of a batch that has too many to be parsed. */
  readonly count?: number
  /** For JSON, the memory that it takes; see `CELL_BYTES`. */
  readonly cells?: number
  readonly shape: "object" | "batch"
  readonly refusal: ParsedSubmission["refusal"]
  readonly isForm: boolean
  /** The body, or the rest of it, did not parse and is in `_raw`. */
  readonly keptAsRaw?: true
  readonly decision: CharsetDecision
  readonly replaced: number
  readonly others?: ReadonlyArray<OtherReading>
}

const AS_JSON: CharsetDecision = { charset: UTF_8, decidedBy: "json" }

/** Node passes the bytes of a URL as Latin-1; a caller that has decoded them already passes characters. */
export const queryBytes = (query: string): Buffer => Buffer.from(query, /[^\0-\xff]/.test(query) ? "utf8" : "latin1")

const NO_QUERY = parseFormBody(Buffer.alloc(0))

interface QueryFields {
  readonly fields: JsonObject
  readonly replaced: number
  readonly others: ReadonlyArray<OtherReading>
}

const NO_FIELDS: QueryFields = { fields: new Map(), replaced: 0, others: [] }

/**
 * The fields of the query string; a query with more fields than a form may have is kept as text, as such a form is. `main`:
 * the charset of the request.
 */
const queryFields = (query: RawForm, charsets: FormCharsets, main: Charset): QueryFields => {
  if (query === NO_QUERY) return NO_FIELDS
  if (query.unread === null) {
    const { fields, ...rest } = decodeForm(query, charsets, "query", main)
    return { fields: gatherFields(fields), ...rest }
  }
  const { reason, offset, from } = query.unread
  const { text, replaced } = decodeRest(query.bytes, charsets, from)
  const fields = unparsedFields(text, `${reason}, at byte ${offset} of the URL's query string`)
  return { fields, replaced, others: [] }
}

const oneObject = (object: JsonObject, decision: CharsetDecision, replaced: number): ReadBody => ({
  objects: [object],
  shape: "object",
  refusal: null,
  isForm: false,
  decision,
  replaced,
})

const bodyOf = (
  body: Buffer,
  { kind, boundary }: ContentType,
  signals: CharsetSignals,
  { json, lines }: Submission,
): ReadBody => {
  if (body.length === 0) return oneObject(new Map(), AS_JSON, 0)
  if (kind === "json") return jsonBody(body, json)
  if (kind === "lines") return linesBody(body, lines ?? readJsonLines(decode(body, UTF_8)))
  if (kind === "multipart") return formBody(body, parseMultipartBody(body, boundary), signals)
  if (kind === "urlencoded") return mislabelledJson(body, json) ?? formBody(body, parseFormBody(body), signals)
  return otherBody(body, kind, signals, json)
}

const readJson = (body: Buffer): SentJson => {
  const decoded = decode(body, UTF_8)
  const notes = emptyJsonNotes()
  return { decoded, notes, parsed: parseJson(decoded.text, { notes }) }
}

const jsonBody = (body: Buffer, json: SentJson | undefined): ReadBody => {
  const { decoded, notes, parsed } = json ?? readJson(body)
  if (Result.isFailure(parsed)) {
    const detail = jsonErrorInWords(parsed.failure)
    const kept = oneObject(unparsedFields(decoded.text, detail), AS_JSON, decoded.replaced)
    return { ...kept, keptAsRaw: true, refusal: { error: "bad_json", detail } }
  }
  const value = parsed.success
  const { cells } = notes
  const replaced = decoded.replaced + notes.replaced
  const sent = notes.sent.textsIn(decoded.text)
  if (value instanceof Map) return { ...oneObject(value, AS_JSON, replaced), cells, sent }
  const detail = notAnObject(value, decoded.text, notes)
  if (detail !== null) {
    const refusal = { error: "not_an_object", detail } as const
    return { ...oneObject(valueKept(value, detail), AS_JSON, replaced), cells, refusal }
  }
  return { ...oneObject(new Map(), AS_JSON, replaced), cells, objects: objectsOf(value), shape: "batch", sent }
}

const objectsOf = (value: Json): ReadonlyArray<JsonObject> =>
  isJsonList(value) ? value.filter((item) => item instanceof Map) : []

/** Lines of JSON form a batch, like a list of objects, with the same refusals. */
const linesBody = (body: Buffer, lines: JsonLines): ReadBody => {
  const { replaced, cells, values } = lines
  const batch: ReadBody = { ...oneObject(new Map(), AS_JSON, replaced), cells, objects: [], shape: "batch" }
  switch (lines.outcome) {
    case "too_many":
      return { ...batch, count: lines.count }
    case "bad_json": {
      const { detail } = lines
      const kept = oneObject(unparsedFields(decode(body, UTF_8).text, detail), AS_JSON, replaced)
      return { ...kept, keptAsRaw: true, refusal: { error: "bad_json", detail } }
    }
    case "not_an_object": {
      const { detail } = lines
      return {
        ...oneObject(valueKept(values, detail), AS_JSON, replaced),
        cells,
        refusal: { error: "not_an_object", detail },
      }
    }
    case "objects":
      return { ...batch, objects: objectsOf(values), sent: lines.sent }
  }
}

/** A body that is JSON from start to end is not a form that a person filled in, whatever its content type says. */
const mislabelledJson = (body: Buffer, json: SentJson | undefined): ReadBody | null => {
  if (!beginsAsJson(body)) return null
  const read = json ?? readJson(body)
  return Result.isSuccess(read.parsed) ? undeclaredJson(read, read.parsed.success) : null
}

/** JSON without a JSON content type: a value other than an object never becomes a batch. */
const undeclaredJson = ({ decoded, notes }: SentJson, value: Json): ReadBody => {
  const { cells } = notes
  const replaced = decoded.replaced + notes.replaced
  if (value instanceof Map) {
    return { ...oneObject(value, AS_JSON, replaced), cells, sent: notes.sent.textsIn(decoded.text) }
  }
  const detail =
    notAnObject(value, decoded.text, notes) ?? "a list of objects is a batch only under a JSON content type"
  return { ...oneObject(valueKept(value, detail), AS_JSON, replaced), cells }
}

const formBody = (body: Buffer, form: RawForm, signals: CharsetSignals): ReadBody => {
  const charsets = decideFormCharsets(form, signals)
  const { decision } = charsets
  const { fields, others, ...text } = decodeForm(form, charsets)
  const payload = gatherFields(fields)
  if (form.unread === null) return { ...oneObject(payload, decision, text.replaced), others, isForm: true }
  const { reason, offset, from } = form.unread
  const rest = decodeRest(body, charsets, from)
  const kept = unparsedFields(rest.text, `not a readable form: ${reason}, at byte ${offset} of the body`)
  const whole = oneObject(withQueryFields(payload, kept), decision, text.replaced + rest.replaced)
  return { ...whole, others, isForm: true, keptAsRaw: true }
}

/**
 * A body whose content type is neither JSON nor a form: tried as JSON, then as a form, else text. A value other than an
 * object never becomes a batch.
 */
const otherBody = (body: Buffer, kind: BodyKind, signals: CharsetSignals, json: SentJson | undefined): ReadBody => {
  const read = json ?? readJson(body)
  const { parsed } = read
  if (Result.isSuccess(parsed)) return undeclaredJson(read, parsed.success)
  if (readsAsForm(body)) return formBody(body, parseFormBody(body), signals)
  const boundary = multipartBoundaryOf(body)
  if (boundary !== null) return formBody(body, parseMultipartBody(body, boundary), signals)
  const plainForm = kind === "plain" ? parsePlainForm(body) : null
  if (plainForm !== null) return formBody(body, plainForm, signals)
  return unparsed(body, decideCharset(body, signals), `neither a form nor JSON; ${jsonErrorInWords(parsed.failure)}`)
}

const unparsed = (body: Buffer, decision: CharsetDecision, reason: string): ReadBody => {
  const { text, replaced } = decode(body, decision.charset)
  return { ...oneObject(unparsedFields(text, reason), decision, replaced), keptAsRaw: true }
}

const unparsedFields = (text: string, reason: string): JsonObject =>
  new Map<string, Json>([
    ["_raw", text],
    ["_parse_error", reason],
  ])

const valueKept = (value: Json, reason: string): JsonObject =>
  new Map<string, Json>([
    ["_value", value],
    ["_parse_error", reason],
  ])
