/** The operations of a cabinet's owner on delivery addresses. A URL is checked before it is saved. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Address, AddressChange, NewAddress } from "./Address.ts"
import { AddressStore } from "./AddressStore.ts"
import { AddressCheck } from "./AddressCheck.ts"
import type { AddressError } from "./AddressError.ts"
import { parseAddressUrl } from "./AddressUrl.ts"
import type { Delivery, Outcome } from "./Attempt.ts"
import { AttemptDelivery } from "./AttemptDelivery.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { DeliverySignal } from "./DeliverySignal.ts"

/** The result of a ping: the number of its delivery, and whether the response was a 2xx. */
export interface PingResult extends Outcome {
  readonly deliveryId: number
  readonly delivered: boolean
}

type Answer<A> = Effect.Effect<A, AddressError | StoreUnavailable>

/** Long enough for one attempt and its settlement. */
const PING_LEASE_SECONDS = 60

export class Addresses extends Context.Service<
  Addresses,
  {
    readonly create: (address: NewAddress) => Answer<Address>
    readonly set: (id: number, change: AddressChange) => Answer<Address>
    readonly resume: (id: number) => Answer<Address>
    /** Sends a ping immediately, from this process, even to a paused address, and waits for the outcome. */
    readonly ping: (id: number) => Answer<PingResult>
    /** See `DeliveryQueue`; also wakes the delivery loop. */
    readonly resend: (deliveryId: number) => Answer<Delivery>
    readonly resendRange: (id: number, from: string, to: string) => Answer<number>
  }
>()("@data-cabinet/core/delivery/Addresses") {
  static readonly layer = Layer.effect(
    Addresses,
    Effect.gen(function* () {
      const book = yield* AddressStore
      const check = yield* AddressCheck
      const queue = yield* DeliveryQueue
      const deliver = yield* AttemptDelivery
      const signal = yield* DeliverySignal

      const checked = Effect.fnUntraced(function* (text: string) {
        const url = yield* Effect.fromResult(parseAddressUrl(text))
        yield* check.check(url)
        return url.href
      })

      return Addresses.of({
        create: (address) =>
          Effect.flatMap(checked(address.url), (url) => book.create({ url, sources: address.sources })),
        set: Effect.fnUntraced(function* (id, change) {
          if (change.url === undefined) return yield* book.set(id, change)
          return yield* book.set(id, { ...change, url: yield* checked(change.url) })
        }),
        resend: (deliveryId) => Effect.tap(queue.resend(deliveryId), () => signal.wake),
        resendRange: (id, from, to) => Effect.tap(queue.resendRange(id, from, to), () => signal.wake),
        resume: (id) => Effect.tap(book.resume(id), () => signal.wake),
        ping: Effect.fnUntraced(function* (id) {
          const delivery = yield* queue.ping(id, PING_LEASE_SECONDS)
          const settlement = yield* deliver.attempt(delivery)
          yield* queue.settle([settlement])
          const delivered = settlement.verdict.state === "delivered"
          return { ...settlement.outcome, deliveryId: delivery.id, delivered }
        }),
      })
    }),
  )
}
