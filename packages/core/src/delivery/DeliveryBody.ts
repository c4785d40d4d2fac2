/** The body of a delivery, in UTF-8: the event's own JSON is inserted unchanged, so that no digit is lost. */
import type { Claimed } from "./DeliveryQueue.ts"

const END = 0x7d // }

/** `{id, type, created_at, source, data}`, or for a ping `{id, type, created_at}`. */
export const deliveryBody = (delivery: Pick<Claimed, "id" | "type" | "createdAt" | "event">): Uint8Array => {
  const head = `{"id":${delivery.id},"type":"${delivery.type}","created_at":"${delivery.createdAt}"`
  if (delivery.event === null) return Buffer.from(`${head}}`)
  const { sourceId, sourceName, json } = delivery.event
  const start = `${head},"source":{"id":${sourceId},"name":${JSON.stringify(sourceName)}},"data":`
  const length = Buffer.byteLength(start)
  const body = Buffer.allocUnsafe(length + json.length + 1)
  body.write(start)
  body.set(json, length)
  body[body.length - 1] = END
  return body
}

/**
 * The body of a batch: `{id, type, created_at, events}`, where each event is the body of its own delivery. The id is
 * that of the last event, so a batch with the same id has no event that an earlier one did not have.
 */
export const batchBody = (items: ReadonlyArray<Pick<Claimed, "id" | "createdAt" | "event">>): Uint8Array => {
  const last = items.at(-1)!
  const head = `{"id":${last.id},"type":"events.received","created_at":"${last.createdAt}","events":[`
  const parts: Array<Uint8Array> = [Buffer.from(head)]
  for (const [index, { id, createdAt, event }] of items.entries()) {
    if (index > 0) parts.push(COMMA)
    parts.push(deliveryBody({ id, type: "event.received", createdAt, event }))
  }
  parts.push(BATCH_END)
  return Buffer.concat(parts)
}

const COMMA = Buffer.from(",")
const BATCH_END = Buffer.from("]}")
