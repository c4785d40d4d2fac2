/** Delivery addresses over the management API: their settings, their secrets, pings and attempts. */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { type Address, type AddressChange, shownAddressUrl } from "@data-cabinet/core/delivery/Address"
import { MAX_HEADERS, MAX_RATE, MAX_TIMEOUT_SECONDS } from "@data-cabinet/core/delivery/AddressSettings"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { addressJson, attemptJson, filterTestJson, pingJson } from "@data-cabinet/core/delivery/DeliveryJson"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect, Schema } from "effect"
import { conditionsField } from "./ConditionsField.ts"
import { list, nothing, one, pageOf, whole } from "../manage/ManageResponses.ts"
import { idField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { beforeParameter, flagParameter, idSegment, limitParameter } from "../manage/ManageParameters.ts"

const id = idSegment("The address's id.")

const subscription = Schema.Union([
  Schema.Literal("all"),
  Schema.Array(idField).check(Schema.isMaxLength(10_000)),
]).annotate({
  description: "`all`, including later ones, or the ids of sources.",
})
const url = text(4096, "Where deliveries are sent: an http or https address that is public.")

const wholeOrNull = (maximum: number, description: string) =>
  Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))).annotate({ description })

const headerName = text(100, "The header's name.")
const headersField = (description: string) =>
  Schema.Array(Schema.Struct({ name: headerName, value: text(4096, "Secret: never shown.") }))
    .check(Schema.isMaxLength(MAX_HEADERS))
    .annotate({ description })

const settings = {
  sources: Schema.optionalKey(subscription),
  filters: Schema.optionalKey(
    conditionsField("Conditions for the fields of an event. It is sent only events for which all of them hold."),
  ),
  headers: Schema.optionalKey(headersField("Sent with every delivery.")),
  rate: Schema.optionalKey(
    wholeOrNull(MAX_RATE, "The most deliveries a second, of all processes together; null: as fast as it takes them."),
  ),
  timeout_seconds: Schema.optionalKey(
    wholeOrNull(MAX_TIMEOUT_SECONDS, "How long an attempt may take; null: 15 seconds."),
  ),
  give_up_after_seconds: Schema.optionalKey(
    Schema.NullOr(Schema.Int).annotate({
      description: "How long it may fail without a break, a minute to ten years, before it is paused; null: for ever.",
    }),
  ),
  pause_on_gone: Schema.optionalKey(Schema.Boolean.annotate({ description: "Whether a response of 410 pauses it." })),
}
const newAddress = Schema.Struct({ url, ...settings })
const change = Schema.Struct({
  url: Schema.optionalKey(url),
  ...settings,
  set_headers: Schema.optionalKey(
    headersField("Added, or sent instead of those with the same names; the others stay. Not with `headers`."),
  ),
  remove_headers: Schema.optionalKey(
    Schema.Array(headerName).check(Schema.isMaxLength(MAX_HEADERS)).annotate({
      description: "Names of headers that are sent no longer, if it has them; the others stay. Not with `headers`.",
    }),
  ),
})
const headerOf = ({ name, value }: { readonly name: string; readonly value: string }) => [name, value] as const

/** What a refusal of a header is about. */
const headersPointer = ({ headers, set_headers: set, remove_headers: removed }: typeof change.Type) => {
  if (headers !== undefined) return "/headers"
  return set === undefined && removed !== undefined ? "/remove_headers" : "/set_headers"
}

/** What a body says of an address; what it leaves out stays away. */
const changeOf = (body: typeof change.Type): AddressChange => {
  const { headers, timeout_seconds: timeoutSeconds, give_up_after_seconds: giveUpAfterSeconds, ...rest } = body
  const { pause_on_gone: pauseOnGone, set_headers: setHeaders, remove_headers: removeHeaders, ...given } = rest
  return {
    ...given,
    ...(headers === undefined ? {} : { headers: headers.map(headerOf) }),
    ...(setHeaders === undefined ? {} : { setHeaders: setHeaders.map(headerOf) }),
    ...(removeHeaders === undefined ? {} : { removeHeaders }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(giveUpAfterSeconds === undefined ? {} : { giveUpAfterSeconds }),
    ...(pauseOnGone === undefined ? {} : { pauseOnGone }),
  }
}

const range = Schema.Struct({
  from: text(40, "The beginning of the range of acceptance times (inclusive), RFC 3339."),
  to: text(40, "The end of the range (exclusive), RFC 3339."),
  only: Schema.optionalKey(
    Schema.Literals(["all", "failed"]).annotate({ description: "`failed`: only those that wait for a retry." }),
  ),
  dry_run: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only count them." })),
})

const SETTING_PARAMS = {
  bad_url: "/url",
  not_public: "/url",
  name_not_found: "/url",
  no_such_source: "/sources",
  bad_filter: "/filters",
  bad_fo: "/filters",
  bad_fv: "/filters",
  bad_header: "/headers",
  bad_rate: "/rate",
  bad_timeout: "/timeout_seconds",
  bad_give_up: "/give_up_after_seconds",
} as const
const SETTING_ERRORS = Object.keys(SETTING_PARAMS) as ReadonlyArray<keyof typeof SETTING_PARAMS>

const about = (act: string) => `/manage/v1/addresses/{id}${act}` as const

const shown = (address: Address, { role }: Actor) =>
  addressJson({ ...address, url: shownAddressUrl(address, role) }, false)

export const manageAddresses = Effect.gen(function* () {
  const addresses = yield* Addresses
  const deliveries = yield* Deliveries
  const common = {
    tag: "Deliveries",
    segments: [id],
    errors: ["no_such_address"],
    params: { no_such_address: "id" },
  } as const
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
      response: list("Address", "The addresses."),
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
      once: {
        completed: "transaction",
        withheld: ["secret", "previous_secret"],
        replay: one("Address", "The address."),
      },
      body: newAddress,
      response: one("AddressWithSecret", "The address.", 201),
      errors: SETTING_ERRORS,
      params: SETTING_PARAMS,
      respond: ({ body }) =>
        Effect.map(addresses.create({ sources: "all", ...changeOf(body), url: body.url }), (made) =>
          addressJson(made, true),
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
      response: one("Address", "The address."),
      respond: ({ actor, path: [address] }) => Effect.map(addresses.get(address), (found) => shown(found, actor)),
    }),
    manageEndpoint({
      ...common,
      id: "changeAddress",
      method: "PATCH",
      path: about(""),
      summary: "Change a delivery address",
      description:
        "Deliveries that are due already go to the new URL. A new filter holds for every event that is committed after it. What is left out stays. Its headers stay with their origin: a URL of another origin needs `headers`, which may be empty. `headers` replaces all of them; `set_headers` and `remove_headers` change single ones.",
      action: "address.change",
      body: change,
      response: one("Address", "The address."),
      errors: ["no_such_address", "busy", "headers_needed", ...SETTING_ERRORS],
      params: { no_such_address: "id", headers_needed: "/headers", ...SETTING_PARAMS },
      respond: ({ path: [address], body }) =>
        addresses.set(address, changeOf(body)).pipe(
          Effect.map((changed) => addressJson(changed, false)),
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
      description: "The address with its signing secret, and for a day after a change the one before.",
      action: "address.reveal",
      response: one("AddressWithSecret", "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.reveal(address), (found) => addressJson(found, true)),
    }),
    manageEndpoint({
      ...common,
      id: "rotateAddressSecret",
      method: "POST",
      path: about("/rotate-secret"),
      summary: "A new signing secret",
      description:
        "The old one signs too for 24 hours, so that no delivery is refused meanwhile. A repeat with the same `Idempotency-Key` changes nothing and shows the address as it is now: a second secret would end the old one at once.",
      action: "address.change",
      once: { completed: "transaction" },
      response: one("AddressWithSecret", "The address."),
      respond: ({ path: [address] }) =>
        Effect.map(addresses.rotateSecret(address), (found) => addressJson(found, true)),
      repeated: ({ path: [address] }) => Effect.map(addresses.reveal(address), (found) => addressJson(found, true)),
    }),
    manageEndpoint({
      ...common,
      id: "pauseAddress",
      method: "POST",
      path: about("/pause"),
      summary: "Pause a delivery address",
      description: "Nothing is sent to it; deliveries that become due meanwhile wait.",
      action: "address.change",
      response: one("Address", "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.pause(address), (found) => addressJson(found, false)),
    }),
    manageEndpoint({
      ...common,
      id: "resumeAddress",
      method: "POST",
      path: about("/resume"),
      summary: "Resume a delivery address",
      description: "Waiting deliveries are sent, and new ones.",
      action: "address.change",
      response: one("Address", "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.resume(address), (found) => addressJson(found, false)),
    }),
    manageEndpoint({
      ...common,
      id: "pingAddress",
      method: "POST",
      path: about("/ping"),
      summary: "Check a delivery address",
      description: "Sends a signed ping at once, even to a paused address, and returns the result.",
      action: "address.change",
      once: { completed: "after" },
      response: one("PingResult", "The result; a failed ping is not an error of this request."),
      respond: ({ path: [address] }) => Effect.map(addresses.ping(address), pingJson),
    }),
    manageEndpoint({
      ...common,
      id: "testAddress",
      method: "GET",
      path: about("/events/{event_id}"),
      segments: [id, idSegment("The event's number.", "event_id")],
      summary: "Whether an address is sent an event",
      description:
        "Tells whether the address, as it is now, would be sent this event, with every condition of its filter, and names the delivery that was made of it. Nothing is sent.",
      action: "address.read",
      errors: ["no_such_address", "no_such_event"],
      params: { no_such_address: "id", no_such_event: "event_id" },
      response: one("AddressTest", "What was found."),
      respond: ({ path: [address, event] }) => Effect.map(addresses.test(address, event), filterTestJson),
    }),
    manageEndpoint({
      ...common,
      id: "listAttempts",
      method: "GET",
      path: about("/attempts"),
      summary: "The attempts of a delivery address",
      description: "Newest first. For the next page send `next_cursor` as `before`.",
      action: "delivery.read",
      parameters: [limitParameter, beforeParameter, flagParameter("failed", "Only failed ones.")],
      response: list("Attempt", "The attempts."),
      respond: ({ path: [addressId], query: { limit = 100, before, failed = false } }) =>
        Effect.map(
          deliveries.log({
            addressId,
            limit: limit + 1,
            failedOnly: failed,
            ...(before === undefined ? {} : { before }),
          }),
          (all) => pageOf(all.map(attemptJson), limit, ({ at }) => at),
        ),
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
      response: one("Count", "How many are sent again, or would be."),
      errors: ["no_such_address", "bad_range"],
      params: { no_such_address: "id", bad_range: "/from" },
      respond: ({ path: [addressId], body: { from, to, only = "all", dry_run = false } }) =>
        Effect.map(deliveries[dry_run ? "countRange" : "resendRange"]({ addressId, from, to, only }), (count) => ({
          count,
        })),
    }),
  ]
})
