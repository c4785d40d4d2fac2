/** The one reader of the feed's end: it reads while anyone follows, and reports new events to all followers. */
import { Effect, Latch, type Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Deadline } from "../runtime/Deadline.ts"
import { LiveSet } from "../runtime/LiveSet.ts"
import type { FeedSignal } from "./FeedSignal.ts"
import type { FeedPlace } from "./FeedStore.ts"
import type { Arrivals, FeedTailStore } from "./FeedTailStore.ts"
import { comparePlaces } from "./FeedTrail.ts"
import { PAUSE_MILLIS, type Following } from "./FeedListener.ts"

/**
 * Waking many followers takes longer than reading, so more followers mean a longer pause, up to a limit well below a
 * second.
 */
const PAUSE_PER_LISTENER_MILLIS = 4
const MAX_PAUSE_MILLIS = 800
/** How long a lost signal goes unnoticed. */
const CHECK_INTERVAL_MILLIS = 1_000
/** The events of one read. */
const READ_EVENTS = 10_000
/** How long the reader stays when nobody waits: most followers return right after an event, and wait again. */
const STAY_MILLIS = 3_000

/** The one reader of the feed's end. */
export class Tail {
  readonly #store: FeedTailStore["Service"]
  readonly #signal: FeedSignal["Service"]
  readonly #now: () => Deadline
  readonly #waiting = new LiveSet<Following>()
  /** Open while a follower waits. */
  readonly #anyone = Latch.makeUnsafe(false)
  /** When a follower was last seen waiting. */
  #seenAt: Deadline = 0
  /** Up to where events were counted; null while nobody waits. Written while holding `#turn`. */
  #end: FeedPlace | null = null
  readonly #turn = Semaphore.makeUnsafe(1)

  constructor(store: FeedTailStore["Service"], signal: FeedSignal["Service"], now: () => Deadline) {
    this.#store = store
    this.#signal = signal
    this.#now = now
  }

  /**
   * Adds a follower until the scope closes. Returns where the feed ended then: the follower hears of all events after
   * it.
   */
  join(waiting: Following, after: FeedPlace): Effect.Effect<FeedPlace, StoreUnavailable, Scope.Scope> {
    const added = Effect.gen({ self: this }, function* () {
      // A cursor from another process may be ahead of this process's reading.
      const known = this.#end
      // A read for a follower that left meanwhile may be outdated.
      const isCurrent = known !== null && !this.#waiting.isEmpty && comparePlaces(after, known) <= 0
      const end = isCurrent ? known : yield* this.#read
      waiting.begin(end)
      const leave = this.#waiting.add(waiting)
      yield* Effect.addFinalizer(() => Effect.sync(leave))
      this.#anyone.openUnsafe()
      return end
    })
    return this.#turn.withPermits(1)(added)
  }

  /** Waits for a follower, and then reads whenever there may be events, until no follower waits any more. */
  get whileAnyone(): Effect.Effect<void, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#anyone.await
      const signalled = yield* this.#signal.listen
      while (yield* this.#turn.withPermits(1)(this.#readForAnyone)) {
        yield* Effect.sleep(this.#pauseMillis)
        yield* Effect.timeoutOption(signalled, CHECK_INTERVAL_MILLIS)
      }
    }).pipe(
      Effect.tapError(() => Effect.sync(() => this.#waiting.forEach((one) => one.fail()))),
      Effect.scoped,
    )
  }

  get #pauseMillis(): number {
    let pause = PAUSE_MILLIS
    this.#waiting.forEach((one) => (pause = Math.min(pause, one.pauseMillis)))
    return Math.min(Math.max(pause, PAUSE_PER_LISTENER_MILLIS * this.#waiting.size), MAX_PAUSE_MILLIS)
  }

  /** False if no follower waits, nor is likely to soon. */
  get #readForAnyone(): Effect.Effect<boolean, StoreUnavailable> {
    return Effect.suspend(() => {
      const now = this.#now()
      if (!this.#waiting.isEmpty) {
        this.#seenAt = now
        return Effect.as(this.#read, true)
      }
      if (now - this.#seenAt < STAY_MILLIS) return Effect.succeed(true)
      this.#end = null
      this.#anyone.closeUnsafe()
      return Effect.succeed(false)
    })
  }

  get #read(): Effect.Effect<FeedPlace, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      if (this.#end === null) return (this.#end = yield* this.#store.end)
      let end: FeedPlace = this.#end
      for (let hasMore = true; hasMore;) {
        const came: Arrivals = yield* this.#store.arrivals(end, READ_EVENTS)
        hasMore = came.hasMore
        end = this.#end = came.end
        this.#waiting.forEach((one) => one.add(came))
      }
      return end
    })
  }
}
