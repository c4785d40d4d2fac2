/**
 * The operations of a cabinet's owner on single deliveries and their log. Refuses unknown deliveries and addresses,
 * deliveries that cannot be sent again, and invalid times.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { fillPage } from "../pagination/FillPage.ts"
import { isTimestamp, notATimestamp } from "../text/Timestamp.ts"
import { AddressError, missingEvent } from "./AddressError.ts"
import { AddressStore } from "./AddressStore.ts"
import type { Attempt, Delivery } from "./Attempt.ts"
import {
  type DeliveryFilter,
  type DeliveryPlace,
  DeliveryQueue,
  type LogQuery,
  type ResendObstacle,
  type ResendRange,
} from "./DeliveryQueue.ts"
import { DeliverySignal } from "./DeliverySignal.ts"
import { type SignedRequest, signedRequest } from "./SignedRequest.ts"

type Returns<A> = Effect.Effect<A, AddressError | StoreUnavailable>

export class Deliveries extends Context.Service<
  Deliveries,
  {
    readonly find: (deliveryId: number) => Returns<Delivery>
    /** Its attempts, newest first. */
    readonly attemptsOf: (deliveryId: number) => Effect.Effect<ReadonlyArray<Attempt>, StoreUnavailable>
    /** Its request as it would be sent and signed now. Sends nothing. Refuses those to agents, and those whose event or address is gone. */
    readonly requestOf: (delivery: Delivery) => Returns<SignedRequest>
    /**
     * Those with the newest last attempt first; those without an attempt count by their creation. A page that takes too
     * long is shorter than `limit`; the next page begins before `next`, which is null on the last.
     */
    readonly list: (query: DeliveryQuery) => Effect.Effect<DeliveryList, StoreUnavailable>
    readonly ofEvent: (eventId: number) => Effect.Effect<ReadonlyArray<Delivery>, StoreUnavailable>
    /** Lists the attempts to deliver to an address, newest first. */
    readonly log: (query: LogQuery) => Returns<ReadonlyArray<Attempt>>
    /**
     * Makes the delivery due now, whatever its state, and restarts its retry schedule. Has no effect while it is in
     * flight. Refuses pings, deleted events and removed addresses.
     */
    readonly resend: (deliveryId: number) => Returns<Delivery>
    /** Resends all deliveries of a range; returns how many. */
    readonly resendRange: (range: ResendRange) => Returns<number>
    /** How many deliveries `resendRange` would resend now. */
    readonly countRange: (range: ResendRange) => Returns<number>
    /**
     * Resends all deliveries that the filter finds, except pings, those in flight, and those whose event or address is gone;
     * returns how many.
     */
    readonly resendListed: (filter: DeliveryFilter) => Effect.Effect<number, StoreUnavailable>
    /** How many deliveries `resendListed` would resend now. */
    readonly countListed: (filter: DeliveryFilter) => Effect.Effect<number, StoreUnavailable>
    /** Stops all further attempts. A delivery that was already delivered stays unchanged. */
    readonly cancel: (deliveryId: number) => Returns<Delivery>
  }
>()("@data-cabinet/core/delivery/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const addresses = yield* AddressStore
      const queue = yield* DeliveryQueue
      const signal = yield* DeliverySignal
      return Deliveries.of({
        find: (id) => existing(id, queue.find(id)),
        attemptsOf: queue.attemptsOf,
        requestOf: requestOf(addresses),
        list: ({ limit, before, ...filter }) => {
          const examine = Object.values(filter).every((value) => (value ?? false) === false)
            ? limit + 1
            : SLICE_DELIVERIES
          return fillPage({
            limit,
            after: before,
            slice: (after: DeliveryPlace | null, room) => queue.slice({ filter, before: after, limit: room, examine }),
          })
        },
        ofEvent: queue.ofEvent,
        log: Effect.fnUntraced(function* (query) {
          if (query.before !== undefined) yield* checkMoment(query.before)
          const attempts = yield* queue.log(query)
          // A removed address keeps its log.
          if (attempts.length > 0 || Option.isSome(yield* addresses.get(query.addressId))) return attempts
          return yield* noSuchAddress(query.addressId)
        }),
        resend: Effect.fnUntraced(function* (id) {
          const { delivery, obstacle } = yield* existing(id, queue.resend(id))
          if (obstacle !== null) return yield* notResent(delivery, obstacle)
          yield* signal.wake
          return delivery
        }),
        resendRange: (range) => Effect.tap(inRange(range, queue.resendRange(range)), signal.wake),
        countRange: (range) => inRange(range, queue.countRange(range)),
        resendListed: (filter) => Effect.tap(queue.resendListed(filter), signal.wake),
        countListed: queue.countListed,
        cancel: (id) => existing(id, queue.cancel(id)),
      })
    }),
  )
}

const requestOf = (addresses: AddressStore["Service"]) =>
  Effect.fnUntraced(function* (delivery: Delivery) {
    const { addressId, eventId } = delivery
    const found = yield* addresses.get(addressId)
    if (Option.isNone(found)) return yield* noSuchAddress(addressId)
    const address = found.value
    if (address.subscription !== null) {
      const message = `The requests of address ${addressId} are written for its agent ${address.subscription.agent} alone.`
      return yield* new AddressError({ code: "of_agent", message })
    }
    // A ping with the contract's own body has no event; one with another kind of body has the newest.
    const isBare = eventId === null && address.body.kind === "standard"
    const sample = isBare ? Option.none() : yield* addresses.sample(addressId, eventId)
    if (eventId !== null && Option.isNone(sample)) return yield* missingEvent(eventId)
    const event = Option.isSome(sample) ? sample.value.event : null
    const now = yield* Clock.currentTimeMillis
    return yield* Effect.mapError(
      signedRequest(delivery, address, event, now),
      (why) => new AddressError({ code: "bad_template", message: `Not sent: ${why}.` }),
    )
  })

/** A page of deliveries. */
export interface DeliveryList {
  readonly items: ReadonlyArray<Delivery>
  readonly next: DeliveryPlace | null
  /** The time of the oldest delivery that was searched; null if all were. */
  readonly searchedTo: string | null
}

/** The most deliveries that one slice of a list examines. */
const SLICE_DELIVERIES = 5_000

/** Which deliveries to list. */
export interface DeliveryQuery extends DeliveryFilter {
  readonly limit: number
  /** Only deliveries after this place. */
  readonly before: DeliveryPlace | null
}

const inRange = Effect.fnUntraced(function* (
  { addressId, from, to }: ResendRange,
  work: Effect.Effect<Option.Option<number>, StoreUnavailable>,
): Effect.fn.Return<number, AddressError | StoreUnavailable> {
  yield* checkMoment(from)
  yield* checkMoment(to)
  // Ignores the microseconds of both.
  if (from === to || Date.parse(from) > Date.parse(to)) {
    return yield* new AddressError({ code: "bad_range", message: "The range is empty: it must end after it begins." })
  }
  const count = yield* work
  return Option.isSome(count) ? count.value : yield* noSuchAddress(addressId)
})

/** The error about an address that does not exist. */
export const noSuchAddress = (id: number): AddressError =>
  new AddressError({ code: "no_such_address", message: `Delivery address ${id} does not exist.` })

const existing = <A>(id: number, found: Effect.Effect<Option.Option<A>, StoreUnavailable>): Returns<A> =>
  Effect.flatMap(found, (one) =>
    Option.isSome(one)
      ? Effect.succeed(one.value)
      : Effect.fail(new AddressError({ code: "no_such_delivery", message: `Delivery ${id} does not exist.` })),
  )

const checkMoment = (text: string): Effect.Effect<void, AddressError> =>
  isTimestamp(text) ? Effect.void : Effect.fail(new AddressError({ code: "bad_range", message: notATimestamp(text) }))

const WHY_NOT: Readonly<Record<ResendObstacle, (delivery: Delivery) => string>> = {
  ping: () => "it is a ping, and `cabinet address ping` sends a new one",
  address_removed: ({ addressId }) => `its address ${addressId} was removed`,
  event_deleted: ({ eventId }) => `its event ${eventId} was deleted`,
}

const notResent = (delivery: Delivery, obstacle: ResendObstacle) =>
  new AddressError({
    code: "not_resent",
    message: `Delivery ${delivery.id} cannot be sent again: ${WHY_NOT[obstacle](delivery)}.`,
  })
