/** An event as a CloudEvent 1.0: as one JSON document (structured), or as headers with the payload as the body (binary). */
import type { JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"

/** The attributes of an event, and its data. */
export interface CloudEventParts {
  readonly id: number
  readonly type: string
  readonly sourceId: number
  readonly sourceName: string
  readonly channel: string
  readonly receivedAt: string
  /** Null if its source does not verify its sender. */
  readonly verified: boolean | null
  readonly payload: JsonObject
}

/** Attributes are texts without control characters. */
const attributesOf = ({ id, type, sourceId, sourceName, channel, receivedAt, verified }: CloudEventParts) => ({
  specversion: "1.0",
  id: String(id),
  source: `/sources/${sourceId}`,
  type,
  // eslint-disable-next-line no-control-regex
  subject: sourceName.replaceAll(/[\u0000-\u001F\u007F-\u009F]/g, " "),
  time: receivedAt,
  channel,
  ...(verified === null ? {} : { verified }),
})

/** The structured mode. */
export const structuredEvent = (event: CloudEventParts): string => {
  const attributes = JSON.stringify({ ...attributesOf(event), datacontenttype: "application/json" })
  return `${attributes.slice(0, -1)},"data":${jsonText(event.payload)}}`
}

/** A header's value, percent-encoded as the HTTP binding requires. */
const headerValue = (value: string): string =>
  Array.from(value.toWellFormed(), (character) => (/^[!#$&-~]$/.test(character) ? character : encoded(character))).join(
    "",
  )

const encoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

/** The headers of the binary mode, whose body is the payload. */
export const binaryHeaders = (event: CloudEventParts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(attributesOf(event)).map(([name, value]) => [`ce-${name}`, headerValue(String(value))]),
  )
