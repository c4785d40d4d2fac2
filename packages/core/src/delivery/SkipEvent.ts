/** Skips the event at which an address in order waits after a failure; refuses any other event. */
import { Effect, Option } from "effect"
import { AddressError } from "./AddressError.ts"
import { noSuchAddress } from "./Deliveries.ts"
import type { OrderedQueue, SkipObstacle } from "./OrderedQueue.ts"

/** An event to skip, and why. */
export interface SkippedEvent {
  readonly eventId: number
  /** For the log; 1 to 500 characters. */
  readonly reason: string
}

const MAX_REASON = 500

const notSkipped = (message: string) => new AddressError({ code: "not_skipped", message })

const whyNotSkipped = (id: number, obstacle: SkipObstacle, waitsAt: number | null): string => {
  if (obstacle === "not_in_order")
    return `Address ${id} has no order, so it waits at no event: cancel the delivery instead.`
  return waitsAt === null
    ? `Address ${id} does not wait after a failure, so nothing is skipped.`
    : `Address ${id} waits at event ${waitsAt}: only that one can be skipped.`
}

/** Fails if the address does not wait at this event, or the reason is empty or too long. */
export const skipEvent = Effect.fnUntraced(function* (
  ordered: OrderedQueue["Service"],
  id: number,
  { eventId, reason }: SkippedEvent,
) {
  const text = reason.trim()
  if (text === "" || text.length > MAX_REASON) {
    return yield* notSkipped(`The reason must have 1 to ${MAX_REASON} characters.`)
  }
  const found = yield* ordered.skip(id, eventId, `skipped: ${text}`)
  if (Option.isNone(found)) return yield* noSuchAddress(id)
  const { obstacle, waitsAt } = found.value
  if (obstacle !== null) return yield* notSkipped(whyNotSkipped(id, obstacle, waitsAt))
})
