/**
 * Serves addresses in order until its scope ends. Each is held by one process, which sends event after event, and each only
 * after the answer to the one before. There are two lanes, so that addresses whose first event has failed take no slot of
 * the others. An attempt that takes a second gives up its slot: receivers that hang fill no lane.
 *
 * Closing drains: nothing more is claimed, attempts in flight get a few seconds, and positions are saved.
 *
 * Decision: docs/decisions/0087-deliveries-in-order-are-followers.md
 */
import { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import type { Lane } from "@data-cabinet/core/delivery/DeliveryQueue"
import { OrderedQueue } from "@data-cabinet/core/delivery/OrderedQueue"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { type HeldFollower, LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { background } from "@data-cabinet/core/runtime/Background"
import { Clock, Effect, FiberSet, Latch, Layer } from "effect"
import { OrderedSender } from "./OrderedSender.ts"

/** Defaults are for production. */
export interface OrderedOptions {
  /** How long a claim is valid without a move; longer than the longest attempt. Default 30,000. */
  readonly leaseMillis?: number
  /** The longest attempt. Default 15,000. */
  readonly attemptMillis?: number
  /** How often addresses are looked for without a signal. Default 2,000. */
  readonly pollMillis?: number
  /** Addresses served at once in each lane, not counting those whose attempt is slow. Default 128. */
  readonly slots?: number
  /** Including these. Default 1,024. */
  readonly mostHeld?: number
}

/** The most addresses of one claim. */
const MAX_CLAIM = 32
/** The pause between two searches: events that arrive meanwhile are sent together. */
const SEARCH_PAUSE_MILLIS = 10
/** The shortest wait without a signal. */
const MIN_WAIT_MILLIS = 100
const SLOW_MILLIS = 1_000
const CHECK_MILLIS = 250
const DRAIN_MILLIS = 5_000

/** A lane's addresses at work, by the time when each one's attempt began. */
class OrderedLane {
  readonly name: Lane
  readonly #slots: number
  readonly #mostHeld: number
  readonly #running = new Map<HeldFollower, { since: number }>()
  /** Open when there may be something to claim. */
  readonly maySearch = Latch.makeUnsafe(true)

  constructor(name: Lane, { slots = 128, mostHeld = 1_024 }: OrderedOptions) {
    this.name = name
    this.#slots = slots
    this.#mostHeld = mostHeld
  }

  begin(held: HeldFollower, now: number): { since: number } {
    const turn = { since: now }
    this.#running.set(held, turn)
    return turn
  }

  end(held: HeldFollower): void {
    this.#running.delete(held)
    this.maySearch.openUnsafe()
  }

  free(now: number): number {
    let quick = 0
    for (const { since } of this.#running.values()) if (now - since < SLOW_MILLIS) quick++
    return Math.max(0, Math.min(this.#slots - quick, this.#mostHeld - this.#running.size, MAX_CLAIM))
  }
}

const run = Effect.fnUntraced(function* (options: OrderedOptions) {
  const queue = yield* OrderedQueue
  const deliver = yield* AttemptDelivery
  const feed = yield* FeedSignal
  const { leaseMillis = LEASE_MILLIS, attemptMillis = 15_000, pollMillis = 2_000 } = options
  const sender = new OrderedSender({ queue, deliver, keys: yield* CursorKeys, leaseMillis, attemptMillis })
  const senders = yield* FiberSet.make<void>()
  const lanes = [new OrderedLane("healthy", options), new OrderedLane("failing", options)] as const
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      sender.close()
      yield* Effect.timeoutOption(FiberSet.awaitEmpty(senders), DRAIN_MILLIS)
      yield* FiberSet.clear(senders)
    }),
  )
  const signalled = yield* feed.listen

  const serve = (lane: OrderedLane, held: HeldFollower, now: number) => {
    const turn = lane.begin(held, now)
    return FiberSet.run(
      senders,
      Effect.onExit(sender.serve(held, turn), () => Effect.sync(() => lane.end(held))),
    )
  }

  /** Returns the pause until the next search. */
  const search = Effect.fnUntraced(function* (lane: OrderedLane) {
    lane.maySearch.closeUnsafe()
    const now = yield* Clock.currentTimeMillis
    const free = lane.free(now)
    if (free === 0) return CHECK_MILLIS
    const due = yield* queue.nextDue(lane.name)
    if (due === "none") {
      // A cabinet without such addresses looks for the first one now and then, whatever is accepted.
      yield* Effect.sleep(pollMillis)
      return 0
    }
    if (due === null || due > 0) return Math.max(MIN_WAIT_MILLIS, Math.min(due ?? pollMillis, pollMillis))
    const claimed = yield* Effect.uninterruptible(
      Effect.tap(queue.claim(lane.name, free, leaseMillis), (all) =>
        Effect.forEach(all, (held) => serve(lane, held, now), { discard: true }),
      ),
    )
    return claimed.length === free ? 0 : claimed.length === 0 ? MIN_WAIT_MILLIS : pollMillis
  })

  const searchAll = Effect.sync(() => lanes[0].maySearch.openUnsafe())
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(signalled, searchAll)))
  for (const lane of lanes) {
    const turn = Effect.flatMap(search(lane), (pause) =>
      Effect.andThen(
        Effect.sleep(SEARCH_PAUSE_MILLIS),
        pause === 0 ? Effect.void : Effect.timeoutOption(lane.maySearch.await, pause),
      ),
    )
    // An unavailable database is reported by everything that needs it.
    yield* background("ordered deliveries", () => 0, turn, { retryAfter: "1 second", quiet: true })
  }
})

export const layer = (options: OrderedOptions = {}) => Layer.effectDiscard(run(options))
