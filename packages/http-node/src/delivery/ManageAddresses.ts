/** Delivery addresses over the management API: their settings, their secrets, pings and attempts. */
import {
  addressShape,
  addressWithSecretShape,
  type Address,
  shownAddressUrl,
} from "@data-cabinet/core/delivery/Address"
import { attemptShape } from "@data-cabinet/core/delivery/Attempt"
import { pingResultShape, Addresses } from "@data-cabinet/core/delivery/Addresses"
import { bodyPreviewShape } from "@data-cabinet/core/delivery/BodyPreview"
import { filterTestShape } from "@data-cabinet/core/delivery/TestFilter"
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect, Schema } from "effect"
import {
  ADDRESS_ERRORS,
  ADDRESS_PARAMS,
  addressChange,
  bodyOf,
  changeOf,
  headersPointer,
  newAddress,
  previewed,
  skippedEvent,
} from "./AddressBodies.ts"
import { attemptCursor, attemptsBefore } from "./AttemptCursor.ts"
import { countShape, list, nothing, one, pageOf, whole } from "../manage/ManageResponses.ts"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint, type Once } from "../manage/ManageEndpoint.ts"
import { flagParameter, idSegment, limitParameter } from "../manage/ManageParameters.ts"

const id = idSegment("The address's id.")

const range = Schema.Struct({
  from: text(40, "The beginning of the range of acceptance times (inclusive), RFC 3339."),
  to: text(40, "The end of the range (exclusive), RFC 3339."),
  only: Schema.optionalKey(
    Schema.Literals(["all", "failed"]).annotate({ description: "`failed`: only those that wait for a retry." }),
  ),
  dry_run: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only count them." })),
})

const about = (act: string) => `/manage/v1/addresses/{id}${act}` as const

const shown = (address: Address, { role }: Actor) =>
  addressShape.json({ ...address, url: shownAddressUrl(address, role) })

const common = {
  tag: "Deliveries",
  segments: [id],
  errors: ["no_such_address"],
  params: { no_such_address: "id" },
} as const

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

export const manageAddresses = Effect.gen(function* () {
  const addresses = yield* Addresses
  const deliveries = yield* Deliveries
  const once: Once = {
    completed: "transaction",
    withheld: ["secret", "previous_secret"],
    replay: one(addressShape, "The address."),
  }
  return [
    manageEndpoint({
      id: "listAddresses",
      tag: "Deliveries",
      method: "GET",
      path: "/manage/v1/addresses",
      summary: "All delivery addresses",
      description:
        "Every address by id, without its secrets. A viewer does not see the query strings of their URLs. The list is not paginated.",
      action: "address.read",
      response: list(addressShape, "The addresses."),
      respond: ({ actor }) => Effect.map(addresses.list, (all) => whole(all.map((address) => shown(address, actor)))),
    }),
    manageEndpoint({
      id: "addAddress",
      tag: "Deliveries",
      method: "POST",
      path: "/manage/v1/addresses",
      summary: "Add a delivery address",
      description:
        "It is sent every event accepted from now on. The response has the signing secret; `reveal` shows it again. Without `sources`: all, including later ones. With `filters`: only events for which they hold.",
      action: "address.change",
      once,
      body: newAddress,
      response: one(addressWithSecretShape, "The address.", 201),
      errors: ["too_many_addresses", ...ADDRESS_ERRORS],
      params: { too_many_addresses: "/sources", ...ADDRESS_PARAMS },
      respond: ({ body }) =>
        Effect.map(addresses.create({ sources: "all", ...changeOf(body), url: body.url }), (made) =>
          addressWithSecretShape.json(made),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "getAddress",
      method: "GET",
      path: about(""),
      summary: "One delivery address",
      description: "One address, without its secrets. A viewer does not see the query string of its URL.",
      action: "address.read",
      response: one(addressShape, "The address."),
      respond: ({ actor, path: [address] }) => Effect.map(addresses.get(address), (found) => shown(found, actor)),
    }),
    manageEndpoint({
      ...common,
      id: "changeAddress",
      method: "PATCH",
      path: about(""),
      summary: "Change a delivery address",
      description:
        "Deliveries that are due already go to the new URL. A new filter applies to every event committed after it. Missing fields stay. Its headers and its client certificate stay with their origin: a URL of another origin needs `headers`, which may be empty, and `client_identity`, which may be null. `headers` replaces all of them; `set_headers` and `remove_headers` change single ones.",
      action: "address.change",
      body: addressChange,
      response: one(addressShape, "The address."),
      errors: [
        "no_such_address",
        "of_agent",
        "busy",
        "headers_needed",
        "certificate_needed",
        "too_many_addresses",
        ...ADDRESS_ERRORS,
      ],
      params: {
        no_such_address: "id",
        of_agent: "id",
        headers_needed: "/headers",
        certificate_needed: "/client_identity",
        too_many_addresses: "/sources",
        ...ADDRESS_PARAMS,
      },
      respond: ({ path: [address], body }) =>
        addresses.set(address, changeOf(body)).pipe(
          Effect.map(addressShape.json),
          Effect.mapError((error) =>
            "code" in error && error.code === "bad_header"
              ? { code: error.code, message: error.message, param: headersPointer(body) }
              : error,
          ),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "removeAddress",
      method: "DELETE",
      path: about(""),
      summary: "Remove a delivery address",
      description:
        "Nothing more is sent to it, and due deliveries are cancelled. The attempt log is kept until it expires.",
      action: "address.change",
      response: nothing("It is removed."),
      respond: ({ path: [address] }) => Effect.as(addresses.remove(address), undefined),
    }),
    manageEndpoint({
      ...common,
      id: "revealAddress",
      method: "POST",
      path: about("/reveal"),
      summary: "Show a signing secret",
      description: "The address with its signing secret, and for a day after a change the previous one.",
      action: "address.reveal",
      response: one(addressWithSecretShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.reveal(address), addressWithSecretShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "rotateAddressSecret",
      method: "POST",
      path: about("/rotate-secret"),
      summary: "A new signing secret",
      description:
        "The old secret also signs for 24 hours, so that no delivery is refused meanwhile. A second rotation would end the old one at once; a repeat with the same `Idempotency-Key` changes nothing.",
      action: "address.change",
      once,
      response: one(addressWithSecretShape, "The address.", 201),
      errors: ["no_such_address", "of_agent"],
      params: { no_such_address: "id", of_agent: "id" },
      respond: ({ path: [address] }) => Effect.map(addresses.rotateSecret(address), addressWithSecretShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "pauseAddress",
      method: "POST",
      path: about("/pause"),
      summary: "Pause a delivery address",
      description: "Nothing is sent to it; deliveries that become due meanwhile wait.",
      action: "address.change",
      response: one(addressShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.pause(address), addressShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "resumeAddress",
      method: "POST",
      path: about("/resume"),
      summary: "Resume a delivery address",
      description: "Waiting deliveries are sent, and new ones.",
      action: "address.change",
      response: one(addressShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.resume(address), addressShape.json),
    }),
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
