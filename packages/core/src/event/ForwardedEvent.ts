/**
 * An event of the feed as the delivery that an address would receive, for a program on a developer's machine, which no
 * address can reach. The delivery has the event's id, so that posting it again posts the same.
 */
import type { Claimed } from "../delivery/DeliveryQueue.ts"
import { ownJson } from "../json/ParseJson.ts"
import { isEmptyPayload, isFilled } from "./Payload.ts"

export interface ForwardedEvent {
  readonly id: number
  readonly sourceId: number
  /** RFC 3339 in UTC. */
  readonly receivedAt: string
  /** Why no address receives it, in words; null if all addresses of its source do. */
  readonly notSent: string | null
  readonly delivery: Pick<Claimed, "id" | "type" | "createdAt" | "event">
}

interface FeedItem {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  readonly received_at: string
  readonly repeat_of: number | null
  readonly history: boolean
  readonly deleted_at: string | null
  readonly verified?: boolean
  readonly spam?: boolean
}

const isEmpty = (text: string): boolean => {
  const event = ownJson(text)
  const payload = event instanceof Map ? event.get("payload") : undefined
  if (!(payload instanceof Map) || !isEmptyPayload(payload)) return false
  // A body's text counts if it is neither JSON nor a form; the text of a refused body does not.
  return payload.has("_parse_error") || !isFilled(payload.get("_raw") ?? null)
}

/** The rules of deliveries, as far as the feed's event shows them; filters of addresses do not apply. */
const whyNotSent = (event: FeedItem, text: string): string | null => {
  if (event.deleted_at !== null) return "it was deleted"
  if (event.repeat_of !== null) return `it repeats event ${event.repeat_of}`
  if (event.history) return "it is history"
  if (event.verified === false) return "its sender could not be verified"
  if (event.spam === true) return "it is spam"
  return isEmpty(text) ? "it is empty" : null
}

/** `text`: the event as the feed returns it. */
export const forwardedEvent = (text: string): ForwardedEvent => {
  const event = JSON.parse(text) as FeedItem
  const { id, source, received_at: receivedAt } = event
  return {
    id,
    sourceId: source.id,
    receivedAt,
    notSent: whyNotSent(event, text),
    delivery: {
      id,
      type: "event.received",
      createdAt: new Date(receivedAt).toISOString(),
      event: { json: Buffer.from(text), sourceId: source.id, sourceName: source.name },
    },
  }
}
