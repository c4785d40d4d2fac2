/** An event as the protocol's extension for events has it: `EventOccurrence`. The event's own JSON is inserted unchanged. */
import { parseJson } from "../json/ParseJson.ts"
import { jsonText } from "../json/JsonText.ts"
import { JsonNumber, type Json } from "../json/Json.ts"
import { Result } from "effect"
import { forwardedEvent } from "../event/ForwardedEvent.ts"

/** The most bytes of a body that a callback endpoint has to accept. */
export const MAX_OCCURRENCE_BYTES = 262_144

interface Parts {
  readonly eventId: number
  /** Of the event type that was subscribed to. */
  readonly name: string
  /** RFC 3339. */
  readonly timestamp: string
  /** The event as the feed shows it. */
  readonly json: Uint8Array
  /** The position after the event; without it the message around the occurrence has one. */
  readonly cursor?: string
}

const written = ({ eventId, name, timestamp, json, cursor }: Parts): Uint8Array => {
  const start = JSON.stringify({ eventId: String(eventId), name, timestamp }).slice(0, -1)
  const end = cursor === undefined ? "}" : `,"cursor":${JSON.stringify(cursor)}}`
  return Buffer.concat([Buffer.from(`${start},"data":`), json, Buffer.from(end)])
}

/** The event with the size of its payload in bytes instead of the payload. */
const withoutPayload = (json: Uint8Array): Uint8Array => {
  const event = Result.getOrThrow(parseJson(Buffer.from(json).toString())) as ReadonlyMap<string, Json>
  const members = [...event].filter(([key]) => key !== "payload")
  const bytes = Buffer.byteLength(jsonText(event.get("payload") ?? null))
  return Buffer.from(jsonText(new Map([...members, ["payload_omitted", new JsonNumber(String(bytes))]])))
}

/** The body of a delivery. An event that makes it too long comes without its payload, and says so. */
export const occurrenceBody = (parts: Parts): Uint8Array => {
  const body = written(parts)
  return body.length <= MAX_OCCURRENCE_BYTES ? body : written({ ...parts, json: withoutPayload(parts.json) })
}

/** The occurrence of an event of the feed; null for one that no address is sent, such as a repeat. */
export const occurrenceOf = (name: string, text: string, cursor?: string): string | null => {
  const { id, notSent, delivery } = forwardedEvent(text)
  if (notSent !== null) return null
  const parts = { eventId: id, name, timestamp: delivery.createdAt, json: delivery.event!.json }
  return Buffer.from(written(cursor === undefined ? parts : { ...parts, cursor })).toString()
}
