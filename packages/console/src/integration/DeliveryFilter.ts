/** The filter of the list of deliveries, as its address says it. */
import { DELIVERY_OUTCOMES, DELIVERY_STATES, DELIVERY_TYPES } from "@data-cabinet/core/delivery/Attempt"
import { deliveryPlace } from "@data-cabinet/core/delivery/DeliveryQueue"
import { isTimestamp } from "@data-cabinet/core/text/Timestamp"
import { idOf } from "../screen/Act.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { RETRYING } from "./DeliveryListScreen.ts"

/** The value of a field for a time without a zone, as UTC. */
export const utc = (text: string): string =>
  /^[\dT:.-]+$/.test(text) ? `${text.length === 16 ? `${text}:00` : text}Z` : text

/** An unknown filter is ignored: a person typed this address, not a program. */
export const deliveryFilter = (pairs: Pairs) => {
  const id = (name: string) => idOf(valueOf(pairs, name)) || null
  const state = valueOf(pairs, "state")
  const time = (name: string) => {
    const text = utc(valueOf(pairs, name) ?? "")
    return isTimestamp(text) ? text : null
  }
  return {
    addressId: id("address_id"),
    eventId: id("event_id"),
    sourceId: id("source_id"),
    state: DELIVERY_STATES.find((one) => one === state) ?? null,
    retrying: state === RETRYING || valueOf(pairs, RETRYING) === "true",
    from: time("from"),
    to: time("to"),
    outcome: DELIVERY_OUTCOMES.find((one) => one === valueOf(pairs, "outcome")) ?? null,
    type: DELIVERY_TYPES.find((one) => one === valueOf(pairs, "type")) ?? null,
    before: deliveryPlace(valueOf(pairs, "before") ?? "") ?? null,
  }
}
