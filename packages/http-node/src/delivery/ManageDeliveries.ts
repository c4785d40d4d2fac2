/** Single deliveries over the management API. */
import {
  DELIVERY_OUTCOMES,
  deliveryShape,
  deliveryWithLogShape,
  DELIVERY_STATES,
  DELIVERY_TYPES,
} from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import {
  type DeliveryFilter,
  type DeliveryPlace,
  deliveryCursor,
  deliveryPlace,
} from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Schema } from "effect"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { notATimestamp } from "@data-cabinet/core/text/Timestamp"
import { idField, text } from "../manage/ManageBodies.ts"
import { countShape, one, searched } from "../manage/ManageResponses.ts"
import type { ManageError } from "../manage/ManageError.ts"
import { manageEndpoint, type ManageParameter } from "../manage/ManageEndpoint.ts"
import {
  flagParameter,
  idParameter,
  idSegment,
  isTime,
  limitParameter,
  timeParameter,
  wordParameter,
} from "../manage/ManageParameters.ts"

const id = idSegment("The delivery's id.")

const beforeParameter = {
  name: "before",
  description: "`next_cursor` of the previous page.",
  schema: { type: "string" },
  read: deliveryPlace,
  expected: "the next_cursor of a page",
} as const satisfies ManageParameter<DeliveryPlace>

const filters = [
  idParameter("address_id", "Only deliveries to this address."),
  idParameter("event_id", "Only deliveries of this event."),
  idParameter("source_id", "Only deliveries of this source's events."),
  wordParameter("state", DELIVERY_STATES, "Only deliveries in this state."),
  wordParameter(
    "outcome",
    DELIVERY_OUTCOMES,
    "Only deliveries whose last attempt ended so. `refused`: a 4xx; `error`: any other status but a 2xx; `no_answer`: no response.",
  ),
  wordParameter("type", DELIVERY_TYPES, "Only deliveries of this type: of an event, or a ping."),
  flagParameter("retrying", "Only deliveries that wait for another attempt after a failed one."),
  timeParameter("from", "Only deliveries last attempted (before the first attempt: created) at this time or later."),
  timeParameter("to", "Only deliveries last attempted (before the first attempt: created) before this time."),
] as const

const number = (description: string) => Schema.optionalKey(idField.annotate({ description }))

const listed = Schema.Struct({
  address_id: number("Only deliveries to this address."),
  event_id: number("Only deliveries of this event."),
  source_id: number("Only deliveries of this source's events."),
  state: Schema.optionalKey(
    Schema.Literals(DELIVERY_STATES).annotate({ description: "Only deliveries in this state." }),
  ),
  outcome: Schema.optionalKey(
    Schema.Literals(DELIVERY_OUTCOMES).annotate({ description: "Only deliveries whose last attempt ended so." }),
  ),
  type: Schema.optionalKey(
    Schema.Literals(DELIVERY_TYPES).annotate({ description: "Only deliveries of this type: of an event, or a ping." }),
  ),
  retrying: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Only deliveries that wait for another attempt after a failed one." }),
  ),
  from: Schema.optionalKey(
    text(40, "Only deliveries last attempted, or else created, at this time or later, RFC 3339."),
  ),
  to: Schema.optionalKey(text(40, "Only deliveries last attempted, or else created, before this time, RFC 3339.")),
  all: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True in place of every condition: all deliveries that there are." }),
  ),
  dry_run: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only count them." })),
})

const filterOf = (given: Omit<typeof listed.Type, "all" | "dry_run">): DeliveryFilter => ({
  addressId: given.address_id ?? null,
  eventId: given.event_id ?? null,
  sourceId: given.source_id ?? null,
  state: given.state ?? null,
  outcome: given.outcome ?? null,
  type: given.type ?? null,
  retrying: given.retrying ?? false,
  from: given.from ?? null,
  to: given.to ?? null,
})

const hasCondition = (filter: DeliveryFilter): boolean =>
  Object.values(filter).some((value) => value !== null && value !== false && value !== undefined)

/** A body without a condition is more likely a mistake than meant for everything that was ever delivered. */
const choice = (filter: DeliveryFilter, all: boolean): Effect.Effect<void, ManageError> => {
  if (all !== hasCondition(filter)) return Effect.void
  const message = all
    ? "Nothing was sent: either `all` or conditions, not both."
    : "Nothing was sent: name at least one condition, or set `all` to send every delivery again."
  return Effect.fail({ code: "bad_body", message, param: "/all" })
}

const resendListed = (deliveries: Deliveries["Service"]) =>
  manageEndpoint({
    id: "resendDeliveries",
    tag: "Deliveries",
    method: "POST",
    path: "/manage/v1/deliveries/resend",
    summary: "Send all deliveries of a list again",
    description:
      "Those that `GET /manage/v1/deliveries` lists for the same filters, except pings, those in flight, and those whose event or address is gone. Without a condition, `all` must be true. With `dry_run` they are counted, and nothing is sent.",
    action: "delivery.change",
    once: { completed: "after" },
    body: listed,
    response: one(countShape, "The number of deliveries that are sent again, or would be."),
    errors: ["bad_range", "bad_body"],
    params: { bad_range: "/from" },
    respond: Effect.fnUntraced(function* ({ body: { all = false, dry_run = false, ...body } }) {
      for (const time of [body.from, body.to]) {
        if (time !== undefined && !isTime(time)) {
          return yield* new AddressError({ code: "bad_range", message: notATimestamp(time) })
        }
      }
      const filter = filterOf(body)
      if (!dry_run) yield* choice(filter, all)
      return { count: yield* dry_run ? deliveries.countListed(filter) : deliveries.resendListed(filter) }
    }),
  })

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
      summary: "Deliveries, by their last attempts, newest first",
      description:
        "One without an attempt counts by its creation. Filters apply together. A page that takes too long is shorter than `limit`, even empty, and `searched_to` says how far it searched. For the next page send `next_cursor` as `before`, as long as it is not null.",
      action: "delivery.read",
      parameters: [limitParameter, beforeParameter, ...filters],
      response: searched(deliveryShape, "The deliveries."),
      respond: ({ query: { limit = 100, before, ...query } }) =>
        Effect.map(
          deliveries.list({ limit, before: before ?? null, ...filterOf(query) }),
          ({ items, next, searchedTo }) => ({
            data: items.map(deliveryShape.json),
            has_more: next !== null,
            next_cursor: next === null ? null : deliveryCursor(next),
            searched_to: searchedTo,
          }),
        ),
    }),
    resendListed(deliveries),
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
