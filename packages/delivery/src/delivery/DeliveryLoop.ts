/**
 * Serves the delivery queue until its scope ends: claims what is due, sends it, settles in batches. Two lanes, so that
 * addresses that fail never take the places of those that work. Any number of these loops may run, in any number of
 * processes; a delivery that one of them drops comes back when its lease ends.
 *
 * Closing drains: no more claims, a few seconds for what is under way, then the rest is settled as not answered.
 */
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import { Deliver, verdictOf } from "@data-cabinet/core/delivery/Deliver"
import { type Claimed, DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
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
  maxWindow: 64,
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

/** `more` opens when there may be something to claim; `ended` says that something of the lane is about to be settled. */
const laneState = (lane: Lane) => ({ lane, more: Latch.makeUnsafe(true), after: 0, ended: false })
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
  const lookAfter = Effect.sync(() => {
    for (const state of lanes) {
      if (state.ended) state.more.openUnsafe()
      state.ended = false
    }
  })
  const settler = yield* makeSettler(lookAfter, leaseSeconds * 1000)
  const sending = yield* FiberSet.make<void>()

  const send = (state: LaneState, delivery: Claimed) =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      const giveUp = (failure: string) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const outcome = unanswered(failure, now - started)
          const verdict = verdictOf(delivery, outcome)
          return { deliveryId: delivery.id, attempt: delivery.attempt, outcome, verdict }
        })
      const settlement = yield* Effect.interruptible(deliver.attempt(delivery)).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? giveUp("the service was closed before there was an answer")
            : Effect.andThen(
                Effect.logError("A delivery could not be attempted.", cause),
                giveUp("a fault of the service itself"),
              ),
        ),
      )
      state.ended = true
      const delivered = settlement.verdict.state === "delivered"
      const roomy = state.lane.end(delivery.id, delivered, yield* Clock.currentTimeMillis)
      // A quick address is fed while its last deliveries are still being settled.
      if (roomy && delivered) state.more.openUnsafe()
      settler.add(settlement)
      yield* countAttempt(settlement)
    }).pipe(Effect.uninterruptible)

  /** One claim, everything it took under way; answers whether the lane's wish was filled. */
  const claim = (state: LaneState) =>
    Effect.gen(function* () {
      const { lane } = state
      const limit = lane.free
      state.ended = false
      const request = {
        lane: lane.name,
        limit,
        perAddress: lane.perAddress,
        room: lane.room(),
        after: state.after,
        leaseSeconds,
      }
      const batch = yield* queue.claim(request)
      const now = yield* Clock.currentTimeMillis
      for (const delivery of batch) {
        lane.begin(delivery, now)
        state.after = delivery.addressId
        yield* FiberSet.run(sending, send(state, delivery))
      }
      return batch.length === limit
    }).pipe(Effect.uninterruptible)

  /** Milliseconds to wait when nobody calls. While something is under way, its end calls soon. */
  const pause = (lane: Lane) =>
    lane.running > 0
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
    yield* Effect.timeoutOption(FiberSet.awaitEmpty(sending), options.drainMillis ?? 5000)
    yield* FiberSet.clear(sending)
    yield* settler.flush
  })

  // Closed in reverse order: the lanes first, then what is under way.
  yield* Effect.addFinalizer(() => drain)
  const told = yield* signal.listen
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(told, lookAll)))
  yield* Effect.sleep(LOOK_MILLIS).pipe(
    Effect.andThen(Clock.currentTimeMillis),
    Effect.map((now) => lanes.filter(({ lane }) => lane.look(now)).forEach(({ more }) => more.openUnsafe())),
    Effect.forever,
    Effect.forkScoped,
  )
  for (const state of lanes) yield* Effect.forkScoped(serve(state))
})

export const layer = (options: DeliveryLoopOptions = {}) => Layer.effectDiscard(run(options))
