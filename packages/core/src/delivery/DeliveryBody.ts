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
