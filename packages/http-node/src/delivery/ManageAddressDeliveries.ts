/** What a delivery address is sent, over the management API: pings, previews, attempts, and resending. */
import { addressShape } from "@data-cabinet/core/delivery/Address"
import { Addresses, pingResultShape } from "@data-cabinet/core/delivery/Addresses"
import { type Attempt, attemptShape } from "@data-cabinet/core/delivery/Attempt"
import { bodyPreviewShape } from "@data-cabinet/core/delivery/BodyPreview"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { LogQuery } from "@data-cabinet/core/delivery/DeliveryQueue"
import { filterTestShape } from "@data-cabinet/core/delivery/TestFilter"
import { Effect, Schema } from "effect"
import { bodyOf, previewed, skippedEvent } from "./AddressBodies.ts"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint, type ManageParameter } from "../manage/ManageEndpoint.ts"
import { flagParameter, idSegment, isTime, limitParameter } from "../manage/ManageParameters.ts"
import { countShape, list, one, pageOf } from "../manage/ManageResponses.ts"

const id = idSegment("The address's id.")

/** The path of an act on one address. */
export const about = (act: string) => `/manage/v1/addresses/{id}${act}` as const

/** What endpoints of one address share. */
export const common = {
  tag: "Deliveries",
  segments: [id],
  errors: ["no_such_address"],
  params: { no_such_address: "id" },
} as const

const range = Schema.Struct({
  from: text(40, "The beginning of the range of acceptance times (inclusive), RFC 3339."),
  to: text(40, "The end of the range (exclusive), RFC 3339."),
  only: Schema.optionalKey(
    Schema.Literals(["all", "failed"]).annotate({ description: "`failed`: only those that wait for a retry." }),
  ),
  dry_run: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only count them." })),
})

type AttemptPosition = Required<Pick<LogQuery, "before">> & Pick<LogQuery, "beforeDelivery">

/**
 * Where a page of an address's attempts ends: a time, and the delivery whose attempt was the last, because attempts that were
 * claimed together began at one time.
 */
const attemptCursor = ({ at, deliveryId }: Pick<Attempt, "at" | "deliveryId">): string => `${at}_${deliveryId}`

const CURSOR = /^([^_]*)(?:_([1-9]\d{0,15}))?$/

const attemptsBefore = {
  name: "before",
  description: "`next_cursor` of the previous page, or a time (RFC 3339): only attempts that began before it.",
  schema: { type: "string" },
  read: (given: string): AttemptPosition | undefined => {
    const [, before, delivery] = CURSOR.exec(given) ?? []
    const beforeDelivery = Number(delivery ?? 0)
    if (before === undefined || !isTime(before) || !Number.isSafeInteger(beforeDelivery)) return undefined
    return delivery === undefined ? { before } : { before, beforeDelivery }
  },
  expected: "the next_cursor of a page, or a time such as 2026-11-21T09:30:00Z",
} as const satisfies ManageParameter<AttemptPosition>

const skipping = (addresses: Addresses["Service"]) =>
  manageEndpoint({
    ...common,
    id: "skipEvent",
    method: "POST",
    path: about("/skip"),
    summary: "Skip the event at which an address waits",
    description:
      "Only for an address with `order` `feed` whose next event has failed: that event is not sent by itself any more, and the next one is tried at once. The log of attempts keeps the reason. Any other event is refused.",
    action: "delivery.change",
    body: skippedEvent,
    response: one(addressShape, "The address."),
    errors: ["no_such_address", "not_skipped"],
    params: { no_such_address: "id", not_skipped: "/event_id" },
    respond: ({ path: [address], body: { event_id: eventId, reason } }) =>
      Effect.map(addresses.skip(address, { eventId, reason }), addressShape.json),
  })

const previewing = (addresses: Addresses["Service"]) =>
  manageEndpoint({
    ...common,
    id: "previewDelivery",
    method: "POST",
    path: about("/preview"),
    summary: "What an address would be sent",
    description:
      "Writes the body for an event, with the body given here or that of the address. Without `event_id`: for the newest event that its sources have. Nothing is sent or stored.",
    action: "event.read",
    body: previewed,
    response: one(bodyPreviewShape, "The request."),
    errors: ["no_such_address", "no_such_event", "bad_template"],
    params: { no_such_address: "id", no_such_event: "/event_id", bad_template: "/body" },
    respond: ({ path: [address], body: { event_id: eventId, body } }) =>
      Effect.map(
        addresses.preview(address, {
          ...(eventId === undefined ? {} : { eventId }),
          ...(body === undefined ? {} : { body: bodyOf(body) }),
        }),
        bodyPreviewShape.json,
      ),
  })

/** The endpoints for what is sent to one address. */
export const addressDeliveries = Effect.gen(function* () {
  const addresses = yield* Addresses
  const deliveries = yield* Deliveries
  return [
    skipping(addresses),
    manageEndpoint({
      ...common,
      id: "pingAddress",
      method: "POST",
      path: about("/ping"),
      summary: "Check a delivery address",
      description:
        "Sends a signed ping at once, even to a paused address, and returns the result. An address with a body of its receiver is sent that body, of the newest event of its sources.",
      action: "address.change",
      once: { completed: "after" },
      errors: ["no_such_address", "of_agent"],
      params: { no_such_address: "id", of_agent: "id" },
      response: one(pingResultShape, "The result; a failed ping is not an error of this request."),
      respond: ({ path: [address] }) => Effect.map(addresses.ping(address), pingResultShape.json),
    }),
    previewing(addresses),
    manageEndpoint({
      ...common,
      id: "testAddress",
      method: "GET",
      path: about("/events/{event_id}"),
      segments: [id, idSegment("The event's number.", "event_id")],
      summary: "Whether an address would receive an event",
      description:
        "Says whether the address, as it is now, would receive this event, with every condition of its filter, and names the delivery created for it. Nothing is sent.",
      action: "address.read",
      errors: ["no_such_address", "no_such_event"],
      params: { no_such_address: "id", no_such_event: "event_id" },
      response: one(filterTestShape, "What was found."),
      respond: ({ path: [address, event] }) => Effect.map(addresses.test(address, event), filterTestShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "listAttempts",
      method: "GET",
      path: about("/attempts"),
      summary: "The attempts of a delivery address",
      description: "Newest first. For the next page send `next_cursor` as `before`.",
      action: "delivery.read",
      parameters: [limitParameter, attemptsBefore, flagParameter("failed", "Only failed ones.")],
      response: list(attemptShape, "The attempts."),
      respond: ({ path: [addressId], query: { limit = 100, before, failed = false } }) =>
        Effect.map(deliveries.log({ addressId, limit: limit + 1, failedOnly: failed, ...before }), (all) => {
          const { data, ...page } = pageOf(all, limit, attemptCursor)
          return { data: data.map(attemptShape.json), ...page }
        }),
    }),
    manageEndpoint({
      ...common,
      id: "resendRange",
      method: "POST",
      path: about("/resend"),
      summary: "Resend a range",
      description:
        "All deliveries of the address whose events were accepted from `from` until before `to`; with `dry_run` they are counted, and nothing is sent.",
      action: "delivery.change",
      once: { completed: "after" },
      body: range,
      response: one(countShape, "The number of deliveries that are sent again, or would be."),
      errors: ["no_such_address", "bad_range"],
      params: { no_such_address: "id", bad_range: "/from" },
      respond: ({ path: [addressId], body: { from, to, only = "all", dry_run = false } }) =>
        Effect.map(deliveries[dry_run ? "countRange" : "resendRange"]({ addressId, from, to, only }), (count) => ({
          count,
        })),
    }),
  ]
})
