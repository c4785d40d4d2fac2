/** The operations of a cabinet's owner on delivery addresses. URL, sources and filter are checked before they are saved. */
import * as Shape from "../json/Shape.ts"
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { noSuchEvent } from "../event/EventDetail.ts"
import { type Address, type AddressChange, type NewAddress, NO_BATCHES, type Subscription } from "./Address.ts"
import { checkBatch, checkHeaderCount, checkSettings } from "./AddressSettings.ts"
import {
  AddressStore,
  MAX_ADDRESSES,
  MAX_FILTERED_ADDRESSES,
  MAX_ORDERED,
  type TooManyAddresses,
} from "./AddressStore.ts"
import { AddressCheck, unfitAddress } from "./AddressCheck.ts"
import { AddressError } from "./AddressError.ts"
import { parseAddressUrl } from "./AddressUrl.ts"
import { type Outcome, outcomeMembers } from "./Attempt.ts"
import { AttemptDelivery } from "./AttemptDelivery.ts"
import { type BodyPreview, previewBody, type PreviewChoice } from "./BodyPreview.ts"
import { checkBody, checkBodyFits, STANDARD_BODY } from "./BodySetting.ts"
import { checkPeriod, type ClientIdentity, readIdentity } from "./ClientCertificate.ts"
import { noSuchAddress } from "./Deliveries.ts"
import { type Claimed, DeliveryQueue } from "./DeliveryQueue.ts"
import { DeliverySignal } from "./DeliverySignal.ts"
import { checkFilters } from "./FieldFilter.ts"
import { keptHeaders } from "./HeaderChange.ts"
import { OrderedQueue, type SkipObstacle } from "./OrderedQueue.ts"
import { type FilterTest, testFilter } from "./TestFilter.ts"

/** The result of a ping: the number of its delivery, and whether the response was a 2xx. */
export interface PingResult extends Outcome {
  readonly deliveryId: number
  readonly delivered: boolean
}

/** A ping's result as the APIs show it. */
export const pingResultShape = Shape.named(
  "PingResult",
  Shape.object<PingResult>("The outcome of a ping.", {
    deliveryId: Shape.id("The ping's delivery.", 732),
    delivered: Shape.flag("Whether the response was a 2xx."),
    ...outcomeMembers,
  }),
)

/** An event to skip, and why. */
export interface SkippedEvent {
  readonly eventId: number
  /** For the log; 1 to 500 characters. */
  readonly reason: string
}

type Returns<A> = Effect.Effect<A, AddressError | StoreUnavailable>

/** Long enough for one attempt and its settlement. */
const PING_LEASE_SECONDS = 60

export class Addresses extends Context.Service<
  Addresses,
  {
    /** Creates the address with a new signing secret; it is sent the events accepted from then on. */
    readonly create: (address: NewAddress) => Returns<Address>
    /** By id, with their secrets. */
    readonly list: Effect.Effect<ReadonlyArray<Address>, StoreUnavailable>
    readonly get: (id: number) => Returns<Address>
    /** The same, including its secrets. */
    readonly reveal: (id: number) => Returns<Address>
    /**
     * Changes an address. Deliveries that are already due go to the new URL. Headers and a client certificate stay with
     * their origin: a URL of another one needs them again, or an empty list and null. Single headers can be set and
     * removed without the values of the others.
     */
    readonly set: (id: number, change: AddressChange) => Returns<Address>
    /** Cancels all due deliveries. The attempt log is kept for its retention period. */
    readonly remove: (id: number) => Returns<void>
    readonly pause: (id: number) => Returns<Address>
    /** Also wakes the delivery loop. */
    readonly resume: (id: number) => Returns<Address>
    /** Creates a new secret; the previous one also signs for 24 hours, an older one no longer. */
    readonly rotateSecret: (id: number) => Returns<Address>
    /**
     * Skips the event at which an address in order waits after a failure: it is not sent by itself any more, and the log has
     * the reason. Refuses any other event.
     */
    readonly skip: (id: number, skipped: SkippedEvent) => Returns<Address>
    /**
     * Sends a ping immediately, from this process, even to a paused address, and waits for the outcome. An address with a body
     * of its receiver is sent that body, of the newest event of its sources.
     */
    readonly ping: (id: number) => Returns<PingResult>
    /** What a request to the address would carry. Sends nothing, and stores nothing. */
    readonly preview: (id: number, choice: PreviewChoice) => Returns<BodyPreview>
    /** Whether the address would currently be sent this event, and if not, why. Sends nothing. */
    readonly test: (id: number, eventId: number) => Returns<FilterTest>
  }
>()("@data-cabinet/core/delivery/Addresses") {
  static readonly layer = Layer.effect(
    Addresses,
    Effect.gen(function* () {
      const store = yield* AddressStore
      const check = yield* AddressCheck
      const queue = yield* DeliveryQueue
      const deliver = yield* AttemptDelivery
      const signal = yield* DeliverySignal
      const ordered = yield* OrderedQueue

      const checkedUrl = urlChecked(check)
      const checkSources = sourcesChecked(store)

      const ping = pinging(store, queue, deliver)
      const owned = (id: number) => Effect.tap(existing(id, store.get(id)), refuseOfAgent)
      return Addresses.of({
        create: Effect.fnUntraced(function* (address) {
          const { url, sources, filters = [] } = address
          const checked = yield* Effect.fromResult(checkFilters(filters))
          yield* Effect.fromResult(checkSettings(address))
          const { order = "none", batch = NO_BATCHES } = address
          yield* Effect.fromResult(checkBatch(order, batch))
          const body = yield* Effect.fromResult(checkBody(address.body ?? STANDARD_BODY))
          const href = yield* checkedUrl(url)
          yield* Effect.fromResult(checkBodyFits(body, href, batch))
          const identity = yield* checkedIdentity(address.clientIdentity, href)
          yield* checkSources(sources)
          const created = yield* store.create({ ...address, ...identity, url: href, filters: checked, body })
          return "is" in created ? yield* tooMany(created, address) : created
        }),
        list: store.list,
        get: (id) => existing(id, store.get(id)),
        reveal: (id) => existing(id, store.get(id)),
        set: Effect.fnUntraced(function* (id, change) {
          const filters =
            change.filters === undefined ? {} : { filters: yield* Effect.fromResult(checkFilters(change.filters)) }
          yield* Effect.fromResult(checkSettings(change))
          const was = yield* owned(id)
          const { order = was.order, batch = NO_BATCHES } = change
          yield* Effect.fromResult(checkBatch(order, batch))
          const body = change.body === undefined ? {} : { body: yield* Effect.fromResult(checkBody(change.body)) }
          if (change.headers === undefined) yield* Effect.fromResult(checkHeaderCount(was.headerNames, change))
          if (change.url !== undefined) yield* checkOrigin(was, change.url, change)
          const url = change.url === undefined ? {} : { url: yield* checkedUrl(change.url) }
          const after = order === "feed" ? (change.batch ?? was.batch) : NO_BATCHES
          yield* Effect.fromResult(checkBodyFits(body.body ?? was.body, url.url ?? was.url, after))
          const identity = yield* checkedIdentity(change.clientIdentity, url.url ?? was.url)
          if (change.sources !== undefined) yield* checkSources(change.sources)
          const changed = yield* store.set(id, { ...change, ...identity, ...url, ...filters, ...body }, was)
          if ("is" in changed) return yield* tooMany(changed, change)
          if (Option.isSome(changed)) return changed.value
          yield* existing(id, store.get(id))
          return yield* new AddressError({ code: "busy", message: changedMeanwhile(id) })
        }),
        remove: (id) =>
          Effect.flatMap(store.remove(id), ({ existed }) => (existed ? Effect.void : Effect.fail(noSuchAddress(id)))),
        pause: (id) => existing(id, store.pause(id)),
        resume: (id) => Effect.tap(existing(id, store.resume(id)), () => signal.wake),
        rotateSecret: (id) => Effect.andThen(owned(id), existing(id, store.rotateSecret(id))),
        skip: (id, skipped) => Effect.andThen(skipEvent(ordered, id, skipped), existing(id, store.get(id))),
        preview: Effect.fnUntraced(function* (id, choice) {
          const address = yield* existing(id, store.get(id))
          return yield* previewBody(address, choice, yield* store.sample(id, choice.eventId ?? null))
        }),
        ping: (id) => Effect.andThen(owned(id), ping(id)),
        test: Effect.fnUntraced(function* (id, eventId) {
          const address = yield* existing(id, store.get(id))
          const event = yield* store.judged(id, eventId)
          if (Option.isNone(event)) {
            return yield* new AddressError({ code: "no_such_event", message: noSuchEvent(eventId) })
          }
          return testFilter(address, event.value)
        }),
      })
    }),
  )
}

const urlChecked = (check: AddressCheck["Service"]) =>
  Effect.fnUntraced(function* (text: string) {
    const url = yield* Effect.fromResult(parseAddressUrl(text))
    yield* Effect.mapError(check.check(url), unfitAddress)
    return url.href
  })

const sourcesChecked = (store: AddressStore["Service"]) =>
  Effect.fnUntraced(function* (sources: Subscription) {
    const unknown = sources === "all" ? null : yield* store.unknownSource(sources)
    if (unknown === null) return
    return yield* new AddressError({ code: "no_such_source", message: `Source ${unknown} does not exist.` })
  })

/** A body of its receiver carries an event; our own says that it is a ping. */
const withSample = Effect.fnUntraced(function* (store: AddressStore["Service"], ping: Claimed) {
  if (ping.body === undefined) return ping
  const sample = yield* store.sample(ping.addressId, null)
  return Option.isNone(sample) ? ping : { ...ping, event: sample.value.event }
})

const pinging = (
  store: AddressStore["Service"],
  queue: DeliveryQueue["Service"],
  deliver: AttemptDelivery["Service"],
) =>
  Effect.fnUntraced(function* (id: number) {
    const claimed = yield* queue.ping(id, PING_LEASE_SECONDS)
    if (Option.isNone(claimed)) return yield* noSuchAddress(id)
    const settlement = yield* deliver.attempt(yield* withSample(store, claimed.value))
    yield* queue.settle([settlement])
    const delivered = settlement.next.state === "delivered"
    return { ...settlement.outcome, deliveryId: claimed.value.id, delivered }
  })

/** A client certificate in its stored form. Only a TLS handshake shows it, so the URL must be https. */
const checkedIdentity = Effect.fnUntraced(function* (given: ClientIdentity | null | undefined, url: string) {
  if (given === undefined) return {}
  if (given === null) return { clientIdentity: null }
  const clientIdentity = yield* Effect.fromResult(readIdentity(given))
  yield* Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fromResult(checkPeriod(clientIdentity, now)))
  if (url.startsWith("https:")) return { clientIdentity }
  const message = "A client certificate is for an address that begins with https://."
  return yield* new AddressError({ code: "bad_certificate", message })
})

/** Refuses a new origin for headers and a client certificate that the change does not give again. */
const checkOrigin = Effect.fnUntraced(function* (was: Address, text: string, change: AddressChange) {
  const url = yield* Effect.fromResult(parseAddressUrl(text))
  const { origin } = new URL(was.url)
  const named = was.headerNames.map((name) => [name, null] as const)
  if (url.origin === origin) return
  if (was.clientCertificate !== null && change.clientIdentity === undefined) {
    const message = `The client certificate (${was.clientCertificate.subject}) was given for ${origin}: give it again for another origin, or remove it.`
    return yield* new AddressError({ code: "certificate_needed", message })
  }
  const kept = change.headers === undefined ? keptHeaders(named, change) : []
  if (kept.length === 0) return
  const message = `The headers ${kept.map(([name]) => name).join(", ")} were given for ${origin}: send them again for another origin, or an empty list to send none.`
  return yield* new AddressError({ code: "headers_needed", message })
})

const tooMany = ({ sourceId, filtered }: TooManyAddresses, { order }: AddressChange) => {
  if (order === "feed") {
    const message = `${MAX_ORDERED.toLocaleString("en")} addresses of this cabinet are in order, which is as many as it may have.`
    return new AddressError({ code: "too_many_addresses", message })
  }
  const addresses = filtered
    ? `${MAX_FILTERED_ADDRESSES.toLocaleString("en")} addresses with a filter`
    : `${MAX_ADDRESSES.toLocaleString("en")} addresses`
  const message =
    sourceId === null
      ? `There are ${addresses.replace(" addresses", " addresses of every source")}, which is as many as a source may have: remove one first.`
      : `Source ${sourceId} has ${addresses}, those of every source included, which is as many as it may have: remove one first.`
  return new AddressError({ code: "too_many_addresses", message })
}

/** An agent's subscription has its agent's URL, secret and form of body. */
const refuseOfAgent = ({ id, subscription }: Address): Effect.Effect<void, AddressError> =>
  subscription === null
    ? Effect.void
    : Effect.fail(
        new AddressError({
          code: "of_agent",
          message: `Address ${id} is a subscription of the agent ${subscription.agent}, which alone changes it: pause it, or remove it.`,
        }),
      )

const MAX_REASON = 500

const notSkipped = (message: string) => new AddressError({ code: "not_skipped", message })

const whyNotSkipped = (id: number, obstacle: SkipObstacle, waitsAt: number | null): string => {
  if (obstacle === "not_in_order")
    return `Address ${id} has no order, so it waits at no event: cancel the delivery instead.`
  return waitsAt === null
    ? `Address ${id} does not wait after a failure, so nothing is skipped.`
    : `Address ${id} waits at event ${waitsAt}: only that one can be skipped.`
}

const skipEvent = Effect.fnUntraced(function* (
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

const changedMeanwhile = (id: number): string =>
  `Address ${id} was changed by someone else in the meantime: load it again, and repeat the change.`

const existing = (id: number, found: Effect.Effect<Option.Option<Address>, StoreUnavailable>): Returns<Address> =>
  Effect.flatMap(found, (one) => (Option.isSome(one) ? Effect.succeed(one.value) : Effect.fail(noSuchAddress(id))))
