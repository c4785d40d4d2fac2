/**
 * Serves the delivery queue until its scope ends: claims what is due, sends it, settles in batches. Two lanes, so that
 * addresses that fail never take the places of those that work. Any number of these loops may run, in any number of
 * processes; a delivery that one of them drops comes back when its lease ends.
 *
 * Closing drains: no more claims, a few seconds for what is under way, then the rest is settled as not answered.
 */
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import { Deliver, verdictOf } from "@data-cabinet/core/delivery/Deliver"
import { type Claimed, DeliveryQueue, type Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { Cause, Clock, Effect, FiberSet, Latch, Layer } from "effect"
import { countAttempt } from "./AttemptMetrics.ts"
import { Lane, type LaneLimits } from "./Lane.ts"
import { makeSettler } from "./Settler.ts"

export interface DeliveryLoopOptions {
  readonly healthy?: Partial<LaneLimits>
  readonly failing?: Partial<LaneLimits>
  /** How often it looks without being told. Default 5,000. */
  readonly pollMillis?: number
  /** How long a claim holds; longer than an attempt and its settlement. Default 60. */
  readonly leaseSeconds?: number
  /** How long closing waits for what is under way. Default 5,000. */
  readonly drainMillis?: number
}

const MEGABYTE = 1_048_576

const LIMITS: LaneLimits = {
  slots: 256,
  slowSlots: 2048,
  bytes: 64 * MEGABYTE,
  slowBytes: 192 * MEGABYTE,
  window: 2,
  maxWindow: 32,
  ahead: 960,
  slowMillis: 1000,
}

const FAILING: LaneLimits = {
  ...LIMITS,
  slots: 512,
  slowSlots: 0,
  bytes: 32 * MEGABYTE,
  slowBytes: 0,
  window: 1,
  maxWindow: 2,
  ahead: 0,
}

/** A due moment just ahead is waited for, but not more often than this. */
const MIN_WAIT_MILLIS = 200
const BUSY_WAIT_MILLIS = 1000
const LOOK_MILLIS = 250
/** After the database was away, or something went wrong in the loop itself. */
const RECOVER_MILLIS = 1000

const unanswered = (failure: string, durationMs: number): Outcome => ({
  status: null,
  failure,
  peer: null,
  durationMs,
  answer: null,
})

/**
 * `more` opens when there may be something to claim; `ended` says that what is about to be settled may change that.
 * Addresses that have room again while a claim is under way are `hungry`: that claim may be just for them.
 */
const laneState = (lane: Lane) => ({
  lane,
  more: Latch.makeUnsafe(true),
  after: 0,
  ended: false,
  claiming: false,
  hungry: new Set<number>(),
})
type LaneState = ReturnType<typeof laneState>

const run = Effect.fnUntraced(function* (options: DeliveryLoopOptions) {
  const queue = yield* DeliveryQueue
  const deliver = yield* Deliver
  const signal = yield* DeliverySignal
  const leaseSeconds = options.leaseSeconds ?? 60
  const pollMillis = options.pollMillis ?? 5000
  const lanes = [
    laneState(new Lane("healthy", { ...LIMITS, ...options.healthy })),
    laneState(new Lane("failing", { ...FAILING, ...options.failing })),
  ] as const
  const lookAll = Effect.sync(() => lanes.forEach(({ more }) => more.openUnsafe()))
  /** What was written down may have changed the lane of an address, and made room for another attempt. */
  const lookAfter = Effect.sync(() => {
    if (lanes.some(({ ended }) => ended)) lanes.forEach(({ more }) => more.openUnsafe())
    for (const state of lanes) state.ended = false
  })
  const settler = yield* makeSettler(lookAfter, leaseSeconds * 1000)
  const sending = yield* FiberSet.make<void>()

  const attempt = (delivery: Claimed, clock: Clock.Clock) => {
    const started = clock.currentTimeMillisUnsafe()
    const giveUp = (failure: string) => () => {
      const outcome = unanswered(failure, clock.currentTimeMillisUnsafe() - started)
      const verdict = verdictOf(delivery, outcome)
      return { deliveryId: delivery.id, attempt: delivery.attempt, outcome, verdict }
    }
    return Effect.catchCause(Effect.interruptible(deliver.attempt(delivery)), (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.sync(giveUp("the service was closed before there was an answer"))
        : Effect.andThen(
            Effect.logError("A delivery could not be attempted.", cause),
            Effect.sync(giveUp("a fault of the service itself")),
          ),
    )
  }

  const ended = (state: LaneState, delivery: Claimed, settlement: Settlement, now: number) => {
    const delivered = settlement.verdict.state === "delivered"
    const roomy = state.lane.end(delivery.id, delivered, now)
    // A quick address is fed while its last deliveries are still being settled.
    if (roomy && delivered) {
      if (state.claiming) state.hungry.add(delivery.addressId)
      else state.more.openUnsafe()
    }
    if (!delivered || state.lane.name === "failing") state.ended = true
    settler.add(settlement)
  }

  /** What will not be sent from here after all goes back to the queue; if it cannot be told, the lease ends by itself. */
  const giveBack = (lane: Lane) => {
    const returned = lane.returned()
    return returned.length === 0 ? Effect.void : Effect.ignore(queue.release(returned), { log: "Warn" })
  }

  /** One after the other, as long as the lane has more to send. */
  const sendFrom = (state: LaneState, first: Claimed) =>
    Effect.uninterruptible(
      Effect.clockWith(
        Effect.fnUntraced(function* (clock) {
          for (let delivery: Claimed | undefined = first; delivery !== undefined;) {
            const settlement = yield* attempt(delivery, clock)
            const now = clock.currentTimeMillisUnsafe()
            ended(state, delivery, settlement, now)
            yield* countAttempt(settlement)
            yield* giveBack(state.lane)
            delivery = state.lane.next(now)
          }
        }),
      ),
    )

  const sendAll = Effect.fnUntraced(function* (state: LaneState, now: number) {
    for (let delivery = state.lane.next(now); delivery !== undefined; delivery = state.lane.next(now)) {
      yield* FiberSet.run(sending, sendFrom(state, delivery))
    }
  })

  /** One claim, everything it took under way or waiting; answers whether the lane's wish was filled. */
  const claim = (state: LaneState) =>
    Effect.gen(function* () {
      const { lane } = state
      const limit = lane.free
      const request = {
        lane: lane.name,
        limit,
        perAddress: lane.perAddress,
        room: lane.room(),
        after: state.after,
        leaseSeconds,
      }
      state.claiming = true
      const batch = yield* Effect.onExit(queue.claim(request), () => Effect.sync(() => void (state.claiming = false)))
      const now = yield* Clock.currentTimeMillis
      for (const delivery of batch) {
        lane.take(delivery, now)
        state.after = delivery.addressId
      }
      if ([...state.hungry].some((id) => lane.roomy(id))) state.more.openUnsafe()
      state.hungry.clear()
      yield* sendAll(state, now)
      return batch.length === limit
    }).pipe(Effect.uninterruptible)

  /** Milliseconds to wait when nobody calls. While something is under way, its end calls soon. */
  const pause = (lane: Lane) =>
    lane.held > 0
      ? Effect.succeed(Math.min(BUSY_WAIT_MILLIS, pollMillis))
      : Effect.map(queue.nextDue({ lane: lane.name, perAddress: lane.perAddress, room: lane.room() }), (millis) =>
          Math.max(MIN_WAIT_MILLIS, Math.min(millis ?? pollMillis, pollMillis)),
        )

  let troubled = false
  /** Once until it works again. */
  const complain = (cause: Cause.Cause<unknown>) =>
    Effect.suspend(() => {
      if (troubled) return Effect.void
      troubled = true
      return Effect.logWarning("Deliveries wait: the queue could not be read.", cause)
    })
  const serve = (state: LaneState) =>
    Effect.gen(function* () {
      state.more.closeUnsafe()
      if (state.lane.free === 0) return yield* state.more.await
      const more = yield* claim(state)
      troubled = false
      if (more) return
      // New events call often; failing addresses are in no hurry.
      if (state.lane.name === "failing") yield* Effect.sleep(MIN_WAIT_MILLIS)
      yield* Effect.timeoutOption(state.more.await, yield* pause(state.lane))
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(complain(cause), Effect.sleep(RECOVER_MILLIS)),
      ),
      Effect.forever,
    )

  const drain = Effect.gen(function* () {
    for (const { lane } of lanes) {
      lane.empty()
      yield* giveBack(lane)
    }
    yield* Effect.timeoutOption(FiberSet.awaitEmpty(sending), options.drainMillis ?? 5000)
    yield* FiberSet.clear(sending)
    yield* settler.flush
  })

  // Closed in reverse order: the lanes first, then what is under way.
  yield* Effect.addFinalizer(() => drain)
  const told = yield* signal.listen
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(told, lookAll)))
  const look = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const state of lanes) {
      if (state.lane.look(now)) state.more.openUnsafe()
      yield* giveBack(state.lane)
      yield* sendAll(state, now)
    }
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(LOOK_MILLIS), look)))
  for (const state of lanes) yield* Effect.forkScoped(serve(state))
})

export const layer = (options: DeliveryLoopOptions = {}) => Layer.effectDiscard(run(options))
