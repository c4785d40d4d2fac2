/** The claim loops of the dispatcher, and the senders that they feed. */
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import { type AttemptDelivery, nextState } from "@data-cabinet/core/delivery/AttemptDelivery"
import type { Claimed, DeliveryQueue, Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Cause, Clock, Effect, FiberSet } from "effect"
import { countAttempt } from "./AttemptMetrics.ts"
import type { Lane } from "./Lane.ts"
import type { SettlementBatcher } from "./SettlementBatcher.ts"
import type { DispatchLane } from "./DispatchLane.ts"
import type { DispatcherOptions } from "./DeliveryDispatcher.ts"

/** The shortest wait for a delivery that is about to be due. */
const MIN_WAIT_MILLIS = 200
/** The longest wait while attempts are in flight. */
const BUSY_WAIT_MILLIS = 1000
/** The pause after the database was unavailable, or after a fault of the dispatcher itself. */
const RECOVER_MILLIS = 1000

interface Parts {
  readonly queue: DeliveryQueue["Service"]
  readonly deliver: AttemptDelivery["Service"]
  readonly settlements: SettlementBatcher
  /** The sending fibers: one per slot, and those that wait for a delivery's time. */
  readonly senders: FiberSet.FiberSet<void>
}

/** Claims, sends and settles over its lanes; `drain` ends it. */
export class DeliveryDispatcher {
  readonly #parts: Parts
  readonly #lanes: ReadonlyArray<DispatchLane>
  readonly #leaseSeconds: number
  readonly #pollMillis: number
  readonly #drainMillis: number
  /** An unreadable queue is logged once, until it can be read again. */
  #unreadable = false

  constructor(parts: Parts, lanes: ReadonlyArray<DispatchLane>, options: DispatcherOptions) {
    this.#parts = parts
    this.#lanes = lanes
    this.#leaseSeconds = options.leaseSeconds ?? DEFAULT_LEASE_SECONDS
    this.#pollMillis = options.pollMillis ?? 5000
    this.#drainMillis = options.drainMillis ?? 5000
  }

  /** Runs the claim loop of one lane, forever. */
  serve(state: DispatchLane): Effect.Effect<never> {
    const turn = Effect.gen({ self: this }, function* () {
      state.mayClaim.closeUnsafe()
      if (state.lane.free === 0) return yield* state.mayClaim.await
      const filled = yield* this.#claim(state)
      this.#unreadable = false
      if (filled) return
      // New events signal often; failing addresses can wait.
      if (state.lane.name === "failing") yield* Effect.sleep(MIN_WAIT_MILLIS)
      yield* Effect.timeoutOption(state.mayClaim.await, yield* this.#waitMillis(state.lane))
    })
    const recovered = Effect.catchCause(turn, (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause as Cause.Cause<never>)
        : Effect.andThen(this.#warn(cause), Effect.sleep(RECOVER_MILLIS)),
    )
    return Effect.forever(recovered)
  }

  /**
   * Finds attempts that became slow, gives back deliveries that should not wait any longer, and sends those that may be
   * sent.
   */
  get check(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      for (const state of this.#lanes) {
        if (state.lane.check(now)) state.mayClaim.openUnsafe()
        yield* this.#giveBack(state.lane)
        yield* this.#sendReady(state, now)
      }
    })
  }

  get drain(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (const { lane } of this.#lanes) {
        lane.empty()
        yield* this.#giveBack(lane)
      }
      yield* Effect.timeoutOption(FiberSet.awaitEmpty(this.#parts.senders), this.#drainMillis)
      yield* FiberSet.clear(this.#parts.senders)
      yield* this.#parts.settlements.flush
    })
  }

  /** One claim, all of which is sent or queued. True if the lane got as many as it had room for. */
  #claim(state: DispatchLane) {
    return Effect.gen({ self: this }, function* () {
      const { lane } = state
      const limit = lane.free
      const request = {
        lane: lane.name,
        limit,
        perAddress: lane.perAddress,
        room: lane.room(),
        after: state.lastAddressId,
        leaseSeconds: this.#leaseSeconds,
      }
      state.claiming = true
      const batch = yield* Effect.onExit(this.#parts.queue.claim(request), () =>
        Effect.sync(() => void (state.claiming = false)),
      )
      const now = yield* Clock.currentTimeMillis
      for (const delivery of batch) {
        lane.add(delivery, now)
        state.lastAddressId = delivery.recipient.addressId
        const millis = (delivery.notBeforeMillis ?? now) - now
        if (millis > 0) yield* FiberSet.run(this.#parts.senders, this.#sendAfter(state, delivery, millis))
      }
      if (state.takeStarved()) state.mayClaim.openUnsafe()
      yield* this.#sendReady(state, now)
      return batch.length === limit
    }).pipe(Effect.uninterruptible)
  }

  #sendAfter(state: DispatchLane, delivery: Claimed, millis: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(Math.ceil(millis))
      const now = yield* Clock.currentTimeMillis
      state.lane.due(delivery, now)
      yield* this.#sendReady(state, now)
    })
  }

  #sendReady(state: DispatchLane, now: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let delivery = state.lane.next(now); delivery !== undefined; delivery = state.lane.next(now)) {
        yield* FiberSet.run(this.#parts.senders, Effect.uninterruptible(this.#sendFrom(state, delivery)))
      }
    })
  }

  /**
   * Sends one delivery after another, as long as the lane has more to send. One generator for all: with a generator per
   * call, V8 keeps its references, here the delivery, until a full collection.
   */
  readonly #sendFrom = Effect.fnUntraced({ self: this }, function* (state: DispatchLane, first: Claimed) {
    const clock = yield* Clock.Clock
    for (let delivery: Claimed | undefined = first; delivery !== undefined;) {
      const settlement = yield* this.#attempt(delivery, clock)
      const now = clock.currentTimeMillisUnsafe()
      this.#end(state, delivery, settlement, now)
      yield* countAttempt(settlement)
      yield* this.#giveBack(state.lane)
      delivery = state.lane.next(now)
    }
  })

  #attempt(delivery: Claimed, clock: Clock.Clock): Effect.Effect<Settlement> {
    const started = clock.currentTimeMillisUnsafe()
    const withoutResponse = (failure: string): Settlement => {
      const durationMs = clock.currentTimeMillisUnsafe() - started
      const outcome: Outcome = { status: null, failure, peer: null, durationMs, timing: null, responseBody: null }
      return {
        deliveryId: delivery.id,
        attempt: delivery.attempt,
        outcome,
        next: nextState(delivery, outcome),
      }
    }
    return Effect.catchCause(Effect.interruptible(this.#parts.deliver.attempt(delivery)), (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.sync(() => withoutResponse("the service was stopped before a response arrived"))
        : Effect.andThen(
            Effect.logError("A delivery cannot be attempted.", cause),
            Effect.sync(() => withoutResponse("an internal error of the service")),
          ),
    )
  }

  #end(state: DispatchLane, delivery: Claimed, settlement: Settlement, now: number): void {
    const delivered = settlement.next.state === "delivered"
    const fate = delivered ? "delivered" : settlement.outcome.status === null ? "unanswered" : "refused"
    const hasRoom = state.lane.end(delivery, fate, now)
    // A fast address gets more while its last deliveries are still being settled.
    if (hasRoom && delivered) {
      if (state.claiming) state.starved.add(delivery.recipient.addressId)
      else state.mayClaim.openUnsafe()
    }
    if (!delivered || state.lane.name === "failing") state.changesOnSettlement = true
    this.#parts.settlements.add(settlement)
  }

  /** Returns deliveries that will not be sent from here to the queue; if that fails, their leases expire. */
  #giveBack(lane: Lane): Effect.Effect<void> {
    const returned = lane.returned()
    return returned.length === 0 ? Effect.void : Effect.ignore(this.#parts.queue.release(returned), { log: "Warn" })
  }

  /** How long to wait without a signal, in milliseconds. While anything is in flight, its end signals soon. */
  #waitMillis(lane: Lane) {
    if (lane.held > 0) return Effect.succeed(Math.min(BUSY_WAIT_MILLIS, this.#pollMillis))
    const due = this.#parts.queue.nextDue({ lane: lane.name, perAddress: lane.perAddress, room: lane.room() })
    return Effect.map(due, (millis) =>
      Math.max(MIN_WAIT_MILLIS, Math.min(millis ?? this.#pollMillis, this.#pollMillis)),
    )
  }

  #warn(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    if (this.#unreadable) return Effect.void
    this.#unreadable = true
    return Effect.logWarning("Deliveries are waiting: the queue cannot be read.", cause)
  }
}

/** How long a claim is valid by default, in seconds. */
export const DEFAULT_LEASE_SECONDS = 60
