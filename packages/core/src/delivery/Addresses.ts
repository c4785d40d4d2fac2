/** The operations of a cabinet's owner on delivery addresses. URL, sources and filter are checked before they are saved. */
import * as Shape from "../json/Shape.ts"
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Address } from "./Address.ts"
import { checkBatch, checkBody, checkBodyFits, checkHeaderCount, checkSettings } from "./AddressSettings.ts"
import { type AddressQuery, AddressStore } from "./AddressStore.ts"
import { AddressCheck } from "./AddressCheck.ts"
import { AddressError, missingEvent } from "./AddressError.ts"
import { type Outcome, outcomeMembers } from "./Attempt.ts"
import { AttemptDelivery } from "./AttemptDelivery.ts"
import { type BodyPreview, previewBody, type PreviewChoice } from "./BodyPreview.ts"
import { STANDARD_BODY } from "./BodySetting.ts"
import { noSuchAddress } from "./Deliveries.ts"
import { type Claimed, DeliveryQueue } from "./DeliveryQueue.ts"
import { DeliverySignal } from "./DeliverySignal.ts"
import { checkFilters, type FieldFilter } from "./FieldFilter.ts"
import { OrderedQueue } from "./OrderedQueue.ts"
import { type FilterTest, testFilter } from "./TestFilter.ts"
import { urlChecked, sourcesChecked, checkedIdentity, checkOrigin, tooMany } from "./AddressChecks.ts"
import { type SkippedEvent, skipEvent } from "./SkipEvent.ts"
import type { AddressChange, NewAddress } from "./NewAddress.ts"
import { NO_BATCHES } from "./SendingSettings.ts"

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

type Returns<A> = Effect.Effect<A, AddressError | StoreUnavailable>

/** Long enough for one attempt and its settlement. */
const PING_LEASE_SECONDS = 60

export class Addresses extends Context.Service<
  Addresses,
  {
    /** Creates the address with a new signing secret; it is sent the events accepted from then on. */
    readonly create: (address: NewAddress) => Returns<Address>
    /** By id, with their secrets. A cabinet may have 100,000 addresses: `eachItem` walks the pages. */
    readonly list: (query: AddressQuery) => Effect.Effect<ReadonlyArray<Address>, StoreUnavailable>
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
     * Skips the event at which an address in order waits after a failure: it is no longer sent automatically, and the
     * log keeps the reason. Refuses any other event.
     */
    readonly skip: (id: number, skipped: SkippedEvent) => Returns<Address>
    /**
     * Sends a ping immediately, from this process, even to a paused address, and waits for the outcome. An address
     * with its own kind of body gets that body, made of the newest event of its sources.
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
          const { filters: _, ...others } = change
          const was = yield* owned(id)
          const filters = yield* changedFilters(was, change)
          yield* Effect.fromResult(checkSettings(change))
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
          const changed = yield* store.set(id, { ...others, ...identity, ...url, ...filters, ...body }, was)
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
          if (Option.isNone(event)) return yield* missingEvent(eventId)
          return testFilter(address, event.value)
        }),
      })
    }),
  )
}

/** Returns none if the conditions are the stored ones, as in a form: those may be longer than the limit of today. */
const changedFilters = Effect.fnUntraced(function* (was: Address, { filters }: AddressChange) {
  if (filters === undefined) return {}
  const isStored = ({ fc, fo, fv }: FieldFilter, index: number): boolean => {
    const stored = was.filters[index]
    return stored !== undefined && stored.fc === fc && stored.fo === fo && stored.fv === fv
  }
  if (filters.length === was.filters.length && filters.every(isStored)) return {}
  return { filters: yield* Effect.fromResult(checkFilters(filters)) }
})

/** Only the contract's own body can say that it is a ping; any other kind carries an event. */
const withSample = Effect.fnUntraced(function* (store: AddressStore["Service"], ping: Claimed) {
  if (ping.recipient.body === undefined) return ping
  const sample = yield* store.sample(ping.recipient.addressId, null)
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

/** URL, secret and body of a subscription are set by its agent. */
const refuseOfAgent = ({ id, subscription }: Address): Effect.Effect<void, AddressError> =>
  subscription === null
    ? Effect.void
    : Effect.fail(
        new AddressError({
          code: "of_agent",
          message: `Address ${id} is a subscription of the agent ${subscription.agent}, which alone changes it: pause it, or remove it.`,
        }),
      )

const changedMeanwhile = (id: number): string =>
  `Address ${id} was changed by someone else in the meantime: load it again, and repeat the change.`

const existing = (id: number, found: Effect.Effect<Option.Option<Address>, StoreUnavailable>): Returns<Address> =>
  Effect.flatMap(found, (one) => (Option.isSome(one) ? Effect.succeed(one.value) : Effect.fail(noSuchAddress(id))))
