/** An event's own JSON, as the feed has it, read without losing a digit. */
import { type Json, JsonNumber, type JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { SCHEMA_ERROR_FIELD, VALID_FIELD } from "@data-cabinet/core/schema/MarkEvents"
import { Result } from "effect"

export interface ReadEvent {
  readonly id: string
  readonly source: string
  readonly sourceId: string
  readonly channel: string
  readonly receivedAt: string
  readonly repeatOf: string | null
  readonly payload: Json
  /** Null if the source does not verify its sender. */
  readonly verified: boolean | null
  /** Why it does not follow its source's own schema; null if it does. */
  readonly schemaFault: string | null
}

const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map

const textOf = (value: Json | undefined): string =>
  value instanceof JsonNumber ? value.token : typeof value === "string" ? value : ""

const schemaFaultIn = (payload: Json): string | null => {
  if (!isObject(payload) || payload.get(VALID_FIELD) !== false) return null
  const reason = textOf(payload.get(SCHEMA_ERROR_FIELD))
  return reason === "" ? null : reason
}

export const readEvent = (text: string): ReadEvent => {
  const parsed = parseJson(text, { maxDepth: 1_000 })
  const event: JsonObject = Result.isSuccess(parsed) && isObject(parsed.success) ? parsed.success : new Map()
  const source = event.get("source")
  const repeatOf = textOf(event.get("repeat_of"))
  const verified = event.get("verified")
  return {
    id: textOf(event.get("id")),
    source: isObject(source) ? textOf(source.get("name")) : "",
    sourceId: isObject(source) ? textOf(source.get("id")) : "",
    channel: textOf(event.get("channel")),
    receivedAt: textOf(event.get("received_at")),
    repeatOf: repeatOf === "" ? null : repeatOf,
    payload: event.get("payload") ?? null,
    verified: typeof verified === "boolean" ? verified : null,
    schemaFault: schemaFaultIn(event.get("payload") ?? null),
  }
}

/** The beginning of a payload, for a list. */
export const preview = ({ payload }: ReadEvent, characters = 160): string => {
  const text = jsonText(payload)
  return text.length > characters ? `${text.slice(0, characters)}…` : text
}
