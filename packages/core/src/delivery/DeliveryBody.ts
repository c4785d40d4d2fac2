/** The body of a delivery, as text: the event's own text is inserted unchanged, so that no digit is lost. */
import type { Claimed } from "./DeliveryQueue.ts"

/** `{id, type, created_at, source, data}`, or for a ping `{id, type, created_at}`. */
export const deliveryBody = (delivery: Pick<Claimed, "id" | "type" | "createdAt" | "event">): string => {
  const head = `{"id":${delivery.id},"type":"${delivery.type}","created_at":"${delivery.createdAt}"`
  if (delivery.event === null) return `${head}}`
  const { sourceId, sourceName, text } = delivery.event
  return `${head},"source":{"id":${sourceId},"name":${JSON.stringify(sourceName)}},"data":${text}}`
}
