/** Single deliveries over the management API. */
import { deliveryShape, deliveryWithLogShape, DELIVERY_STATES } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect } from "effect"
import { one, searched } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import {
  beforeIdParameter,
  flagParameter,
  idParameter,
  idSegment,
  limitParameter,
  timeParameter,
  wordParameter,
} from "../manage/ManageParameters.ts"

const id = idSegment("The delivery's id.")

export const manageDeliveries = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const common = {
    tag: "Deliveries",
    segments: [id],
    errors: ["no_such_delivery"],
    params: { no_such_delivery: "id" },
    response: one(deliveryShape, "The delivery."),
  } as const
  return [
    manageEndpoint({
      id: "listDeliveries",
      tag: "Deliveries",
      method: "GET",
      path: "/manage/v1/deliveries",
      summary: "Deliveries, newest first",
      description:
        "Filters apply together. A page that takes too long is shorter than `limit`, even empty, and `searched_to` says how far it searched. For the next page send `next_cursor` as `before`, as long as it is not null.",
      action: "delivery.read",
      parameters: [
        limitParameter,
        beforeIdParameter,
        idParameter("address_id", "Only deliveries to this address."),
        idParameter("event_id", "Only deliveries of this event."),
        idParameter("source_id", "Only deliveries of this source's events."),
        wordParameter("state", DELIVERY_STATES, "Only deliveries in this state."),
        flagParameter("retrying", "Only deliveries that wait for another attempt after a failed one."),
        timeParameter("from", "Only deliveries created at this time or later."),
        timeParameter("to", "Only deliveries created before this time."),
      ],
      response: searched(deliveryShape, "The deliveries."),
      respond: ({ query: { limit = 100, before, address_id, event_id, source_id, state, retrying, from, to } }) => {
        const filter = {
          addressId: address_id ?? null,
          eventId: event_id ?? null,
          sourceId: source_id ?? null,
          state: state ?? null,
          retrying: retrying ?? false,
          from: from ?? null,
          to: to ?? null,
        }
        return Effect.map(
          deliveries.list({ limit, before: before ?? null, ...filter }),
          ({ items, next, searchedTo }) => ({
            data: items.map(deliveryShape.json),
            has_more: next !== null,
            next_cursor: next === null ? null : String(next),
            searched_to: searchedTo,
          }),
        )
      },
    }),
    manageEndpoint({
      ...common,
      id: "getDelivery",
      method: "GET",
      path: "/manage/v1/deliveries/{id}",
      summary: "One delivery",
      description: "One delivery with its state and its attempts, newest first.",
      action: "delivery.read",
      response: one(deliveryWithLogShape, "The delivery."),
      respond: ({ path: [delivery] }) =>
        Effect.zipWith(deliveries.find(delivery), deliveries.attemptsOf(delivery), (found, log) =>
          deliveryWithLogShape.json({ ...found, log }),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "resendDelivery",
      method: "POST",
      path: "/manage/v1/deliveries/{id}/resend",
      summary: "Send a delivery again",
      description: "It is due now, whatever its state, and its retry schedule starts over.",
      action: "delivery.change",
      once: { completed: "transaction" },
      errors: ["no_such_delivery", "not_resent", "no_such_address"],
      respond: ({ path: [delivery] }) => Effect.map(deliveries.resend(delivery), deliveryShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "cancelDelivery",
      method: "POST",
      path: "/manage/v1/deliveries/{id}/cancel",
      summary: "Stop a delivery",
      description: "No further attempt is made. One that was delivered stays delivered.",
      action: "delivery.change",
      respond: ({ path: [delivery] }) => Effect.map(deliveries.cancel(delivery), deliveryShape.json),
    }),
  ]
})
