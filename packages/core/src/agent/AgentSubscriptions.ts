/**
 * `events/subscribe` and `events/unsubscribe`: an agent's key makes an address in order, for a limited time, after the
 * endpoint has answered a challenge.
 *
 * Decision: docs/decisions/0091-agents-subscribe-to-sources.md
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Result } from "effect"
import { AddressCheck } from "../delivery/AddressCheck.ts"
import { parseAddressUrl } from "../delivery/AddressUrl.ts"
import { Courier } from "../delivery/Courier.ts"
import { DeliverySignal } from "../delivery/DeliverySignal.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"
import { FeedTailStore } from "../feed/FeedTailStore.ts"
import { feedParams, writeCursor } from "../feed/FeedParams.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { type AgentEvents, countIn, type EventsRequest } from "./AgentEvents.ts"
import { AgentSubscriptionStore, type SubscriptionHealth, type SubscriptionHolder } from "./AgentSubscriptionStore.ts"
import type { AgentReader, AgentWebhooks } from "./AgentTools.ts"
import { categoryOf, challengeCallback } from "./CallbackChallenge.ts"
import { badParams, type ProtocolError, protocolErrorOf } from "./ProtocolError.ts"

/** How long a subscription lives if its client says nothing. */
export const USUAL_LIFE_SECONDS = 86_400
/** The longest life: a client that wants no end gets this. */
export const MAX_LIFE_SECONDS = 604_800
/** The shortest: a client renews no more often. */
export const MIN_LIFE_SECONDS = 60

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/

const isSecret = (given: Json | undefined): given is string => {
  const [, encoded] = typeof given === "string" ? (SECRET.exec(given) ?? []) : []
  if (encoded === undefined) return false
  const { length } = Buffer.from(encoded, "base64")
  return length >= 24 && length <= 64
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * `https` is required, except in networks that the owner has opened to deliveries, such as a developer's own machine.
 */
const callbackUrl = (given: Json | undefined): Result.Result<URL, ProtocolError> => {
  if (typeof given !== "string") return Result.fail(badParams("delivery.url must be a text."))
  const url = parseAddressUrl(given)
  if (Result.isFailure(url)) return Result.fail(badParams(`delivery.url: ${url.failure.message}`))
  const { protocol, hostname } = url.success
  return protocol === "https:" || LOOPBACK.test(hostname)
    ? Result.succeed(url.success)
    : Result.fail(badParams("delivery.url must begin with https://."))
}

const deliveryIn = (params: JsonObject): Result.Result<JsonObject, ProtocolError> => {
  const delivery = params.get("delivery")
  return delivery instanceof Map
    ? Result.succeed(delivery as JsonObject)
    : Result.fail(badParams("delivery must be an object with url and secret."))
}

const lifeIn = (params: JsonObject): Result.Result<number, ProtocolError> => {
  const given = params.get("ttlMs")
  if (given === null) return Result.succeed(MAX_LIFE_SECONDS)
  const millis = countIn(given)
  if (millis === undefined) return Result.fail(badParams("ttlMs must be an integer that is not negative, or null."))
  if (millis === null) return Result.succeed(USUAL_LIFE_SECONDS)
  return Result.succeed(Math.min(Math.max(Math.floor(millis / 1000), MIN_LIFE_SECONDS), MAX_LIFE_SECONDS))
}

/** The same for each call with the same key, type and URL. */
const subscriptionOf = ({ kind, id }: SubscriptionHolder, name: string, url: string): string =>
  `sub_${createHash("sha256")
    .update(JSON.stringify([kind, id, url, name, {}]))
    .digest("hex")
    .slice(0, 32)}`

const forbidden: ProtocolError = { kind: "forbidden", message: "The key was revoked, or has expired." }

const unfit: ProtocolError = badParams(
  "delivery.url leads to an address that is not public. Callbacks go to public addresses only.",
)

/** A reader's events, and its subscriptions. */
export type SubscribingReader = Pick<AgentReader, "scope" | "tables">

export class AgentSubscriptions extends Context.Service<
  AgentSubscriptions,
  {
    /** What a key or token with this fingerprint may do. */
    readonly of: (fingerprint: Uint8Array, events: AgentEvents, reader: SubscribingReader) => AgentWebhooks
  }
>()("@data-cabinet/core/agent/AgentSubscriptions") {
  static readonly layer = Layer.effect(
    AgentSubscriptions,
    Effect.gen(function* () {
      const store = yield* AgentSubscriptionStore
      const courier = yield* Courier
      const check = yield* AddressCheck
      const tail = yield* FeedTailStore
      const keys = yield* CursorKeys
      const signal = yield* DeliverySignal

      const holderOf = Effect.fnUntraced(function* (fingerprint: Uint8Array) {
        const holder = yield* store.holder(fingerprint)
        return holder ?? (yield* Effect.fail(forbidden))
      })

      /** Where the request begins; later than its cursor if `maxAgeMs` says so. */
      const placeOf = Effect.fnUntraced(function* (
        request: EventsRequest,
        events: AgentEvents,
        reader: SubscribingReader,
      ) {
        if (request.cursor === null) return { place: yield* tail.end, truncated: false }
        const { query, cursor, truncated } = yield* events.start(request, reader)
        const { after } = yield* feedParams(yield* keys.key, [...query, ["cursor", cursor]])
        const place: FeedPlace = { epoch: after.epoch, xid: after.xid, id: after.id }
        return { place, truncated }
      })

      const checked = endpointChecked(store, courier, check)

      const subscribe = Effect.fnUntraced(function* (
        params: JsonObject,
        fingerprint: Uint8Array,
        events: AgentEvents,
        reader: SubscribingReader,
      ) {
        const request = yield* events.request(params, reader)
        const delivery = yield* Effect.fromResult(deliveryIn(params))
        const mode = delivery.get("mode") ?? "webhook"
        if (mode !== "webhook") return yield* Effect.fail(unsupported(mode))
        const url = yield* Effect.fromResult(callbackUrl(delivery.get("url")))
        const secret = delivery.get("secret")
        if (!isSecret(secret)) return yield* Effect.fail(badSecret)
        const lifeSeconds = yield* Effect.fromResult(lifeIn(params))
        const holder = yield* holderOf(fingerprint)
        const { place, truncated } = yield* placeOf(request, events, reader)
        const { type } = request
        const subscription = subscriptionOf(holder, type.name, url.href)
        yield* checked(holder, url, secret, subscription)
        const { name: event, sourceId } = type
        const made = { holder, subscription, event, sourceId, url: url.href, secret, lifeSeconds, place }
        const kept = yield* store.keep(made)
        if (kept.is === "too_many") return yield* Effect.fail(tooMany(kept.max))
        yield* signal.wake
        const cursor = writeCursor(yield* keys.key, { sourceId, channel: null }, kept.place)
        const { endsAt: refreshBefore, health } = kept
        const status = health === null ? {} : { deliveryStatus: deliveryStatus(health) }
        return JSON.stringify({ id: subscription, refreshBefore, cursor, truncated, ...status })
      }, Effect.mapError(protocolErrorOf))

      /** Also works for a source that no longer exists. */
      const unsubscribe = Effect.fnUntraced(function* (params: JsonObject, fingerprint: Uint8Array) {
        const name = params.get("name")
        if (typeof name !== "string") return yield* Effect.fail(badParams("name must be a text."))
        const delivery = yield* Effect.fromResult(deliveryIn(params))
        const url = yield* Effect.fromResult(callbackUrl(delivery.get("url")))
        const holder = yield* holderOf(fingerprint)
        const existed = yield* store.end(subscriptionOf(holder, name, url.href))
        return existed ? "{}" : yield* Effect.fail(noSubscription)
      }, Effect.mapError(protocolErrorOf))

      return AgentSubscriptions.of({
        of: (fingerprint, events, reader) => ({
          subscribe: (params) => subscribe(params, fingerprint, events, reader),
          unsubscribe: (params) => unsubscribe(params, fingerprint),
        }),
      })
    }),
  )
}

/** Checks that an endpoint is public, and has answered a challenge of this holder. */
const endpointChecked = (
  store: AgentSubscriptionStore["Service"],
  courier: Courier["Service"],
  check: AddressCheck["Service"],
) =>
  Effect.fnUntraced(function* (holder: SubscriptionHolder, url: URL, secret: string, id: string) {
    yield* Effect.mapError(check.check(url), ({ is }) =>
      is === "name_not_found" ? callbackError("connection_refused") : unfit,
    )
    if (yield* store.isVerified(holder, url.href)) return
    const reason = yield* challengeCallback(courier, url.href, secret, id)
    if (reason !== null) yield* Effect.fail(callbackError(reason))
  })

/** In categories alone: the endpoint's own words could reveal what a chosen address serves. */
const deliveryStatus = ({ isPaused, deliveredAt, failing }: SubscriptionHealth) => ({
  active: !isPaused,
  lastDeliveryAt: deliveredAt,
  // A redirect, which is not followed, is in none of the protocol's categories but this one.
  lastError: failing === null ? null : (categoryOf(failing.last) ?? "http_4xx"),
  ...(failing === null ? {} : { failedSince: failing.since }),
})

const badSecret = badParams("delivery.secret must be whsec_ and the base64 of 24 to 64 random bytes.")

const callbackError = (reason: string): ProtocolError => ({
  kind: "callback",
  message: `The callback endpoint did not answer the challenge: ${reason}.`,
  data: { reason },
})

const unsupported = (value: Json): ProtocolError => ({
  kind: "unsupported",
  message: "delivery.mode must be webhook.",
  data: { feature: "deliveryMode", value: typeof value === "string" ? value : null },
})

const tooMany = (max: number): ProtocolError => ({
  kind: "exhausted",
  message: `There are ${max.toLocaleString("en")} subscriptions, which is the limit: unsubscribe from one first.`,
  data: { limit: "subscriptions", max },
})

const noSubscription: ProtocolError = {
  kind: "missing",
  message: "This key has no subscription to this event type at this address.",
  data: { kind: "subscription" },
}
