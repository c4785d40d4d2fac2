/**
 * Marks events that violate their source's own schema. The mark is a field of the payload, like the fields of headers: the feed,
 * deliveries, rows and files have it, and every filter can use it.
 *
 * Decision: docs/decisions/0106-own-schemas-mark-events.md
 */
import type { NewEvent } from "../event/EventLog.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { JsonWriting } from "../json/JsonText.ts"
import { untilDone } from "../runtime/WorkInTurns.ts"
import type { OwnSchema } from "./OwnSchema.ts"

/** This field is false in an event that violates the schema; other events do not have it. */
export const VALID_FIELD = "_valid"
/** The field with the reason. */
export const SCHEMA_ERROR_FIELD = "_schema_error"

const NO_OBJECT = "the body could not be read as an object"

const isNoObject = (payload: JsonObject): boolean =>
  payload.has("_parse_error") && (payload.has("_raw") || payload.has("_value"))

const faultIn = (schema: OwnSchema, payload: JsonObject): string | null =>
  isNoObject(payload) ? NO_OBJECT : schema.faultOf(payload)

/** The mark is always last, where lists of events find it. */
const withMark = (payload: JsonObject, reason: string): JsonObject => {
  const marked = withoutMark(payload)
  return marked.set(VALID_FIELD, false).set(SCHEMA_ERROR_FIELD, reason)
}

const withoutMark = (payload: JsonObject): Map<string, Json> => {
  const plain = new Map(payload)
  plain.delete(VALID_FIELD)
  plain.delete(SCHEMA_ERROR_FIELD)
  return plain
}

const isMarked = (payload: JsonObject): boolean =>
  payload.get(VALID_FIELD) === false && typeof payload.get(SCHEMA_ERROR_FIELD) === "string"

/** A payload that was corrected, judged as if it came now: an old mark goes, and a new one comes. */
export const markedAgain = (schema: OwnSchema | undefined, corrected: JsonObject): JsonObject => {
  const payload = isMarked(corrected) ? withoutMark(corrected) : corrected
  const reason = schema === undefined ? null : faultIn(schema, payload)
  return reason === null ? payload : withMark(payload, reason)
}

/** Characters written between two yields. */
const PIECE_SIZE = 65_536

/** Yields between events, and between the pieces of a long one. */
export function* markedEvents(
  schema: OwnSchema,
  events: ReadonlyArray<NewEvent>,
): Generator<void, ReadonlyArray<NewEvent>> {
  const marked: Array<NewEvent> = []
  for (const event of events) {
    const reason = faultIn(schema, event.payload)
    yield
    if (reason === null) {
      marked.push(event)
      continue
    }
    const payload = withMark(event.payload, reason)
    const writing = new JsonWriting(payload, false)
    let text = writing.advance(PIECE_SIZE)
    for (; text === undefined; text = writing.advance(PIECE_SIZE)) yield
    marked.push({ ...event, payload, text })
  }
  return marked
}

/** Marks events without a deadline. Returns them unchanged without a schema. */
export const markedBy = async (
  schema: OwnSchema | undefined,
  events: ReadonlyArray<NewEvent>,
): Promise<ReadonlyArray<NewEvent>> => (schema === undefined ? events : untilDone(markedEvents(schema, events)))
