/**
 * Parses a submission into events. Total: any bytes under any content type give a result. A body that does not parse is
 * kept in the event as text, with the reason in words.
 *
 * Decision: docs/decisions/0003-a-400-is-saved-empty.md
 */
import { type FingerprintedEvent, fingerprintedEvent, fingerprintingEvent, withPayload } from "../event/Fingerprint.ts"
import { isFilled } from "../event/Payload.ts"
import type { JsonObject } from "../json/Json.ts"
import { bufferOf, type Charset } from "../text/Charset.ts"
import { parseContentType } from "../form/ContentType.ts"
import { gatherFields, withoutFields, withQueryFields } from "./Fields.ts"
import { parseFormBody } from "../form/FormBody.ts"
import { decideQueryCharsets, type FormCharsets } from "../form/FormCharsets.ts"
import { decodeForm, decodeRest } from "../form/FormText.ts"
import { CELL_BYTES } from "../json/ParseJson.ts"
import { MAX_BATCH } from "./JsonLines.ts"
import type { OtherReading } from "../event/OtherReadings.ts"
import { nestedFields } from "./NestedFields.ts"
import type { RawForm } from "../form/RawForm.ts"
import type { ParsedEvent, ParsedSubmission, Submission } from "./Submission.ts"
import { bodyOf, unparsedFields } from "./SubmissionBody.ts"

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
  const { headerFields, nestBrackets = false, proofFields } = submission
  const [proofField = ""] = proofFields ?? []
  const proof = read.objects.length === 1 ? read.objects[0]?.get(proofField) : undefined
  const kept = proofFields === undefined ? read.objects : read.objects.map((one) => withoutFields(one, proofFields))
  // The text of an object differs from that of its event if a field was removed.
  const sentOf = (place: number) => (kept[place] === read.objects[place] ? read.sent : undefined)
  const objects = nestBrackets && read.isForm ? kept.map(nestedFields) : kept
  const eventOf = (object: JsonObject, place: number): ParsedEvent => {
    const sent =
      address.fields.size === 0
        ? fingerprintedEvent(object, sentOf(place)?.of(object, place))
        : fingerprintedEvent(withQueryFields(address.fields, object))
    const event = headerFields === undefined ? sent : withPayload(sent, withQueryFields(headerFields, sent.payload))
    return refusal === null && !hasText ? event : judged(object, event)
  }
  const writeEvent = (object: JsonObject, place: number) => {
    const compared = withQueryFields(address.fields, object)
    const payload = headerFields === undefined ? compared : withQueryFields(headerFields, compared)
    const sent = payload === object ? sentOf(place)?.whole(place) : undefined
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
      ...(proof === undefined || proofFields === undefined ? {} : { proof }),
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
  const { reason, offset } = query.unread
  const { text, replaced } = decodeRest(query.bytes, charsets, query.unread)
  const fields = unparsedFields(text, `${reason}, at byte ${offset} of the URL's query string`)
  return { fields, replaced, others: [] }
}
