/**
 * Follows the end of the feed on behalf of all clients in this process that wait for events: one reader for any number
 * of them, and none while nobody waits. It reads when signalled, less often the more followers it has, and counts
 * events without reading them. So the cost to intake does not grow with the number of followers. A follower continues
 * from a cursor of the feed, and misses nothing.
 *
 * Decision: docs/decisions/0055-one-follower-a-process.md
 */
import { Clock, Context, Effect, Latch, Layer, type Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import { type CursorKey, CursorKeys } from "../pagination/CursorKey.ts"
import { background } from "../runtime/Background.ts"
import { type Deadline, monotonicMillis } from "../runtime/Deadline.ts"
import { LiveSet } from "../runtime/LiveSet.ts"
import type { FeedError } from "./FeedError.ts"
import { feedParams, writeCursor } from "./FeedParams.ts"
import { FeedSignal } from "./FeedSignal.ts"
import { FEED_START, type FeedPlace } from "./FeedStore.ts"
import { type Arrivals, type Arrived, FeedTailStore } from "./FeedTailStore.ts"
import { comparePlaces } from "./FeedTrail.ts"

/** Which events are followed. */
export interface FollowFilter {
  readonly sourceId: number | null
  readonly channel: Channel | null
}

/** The events since the last count. */
export interface NewEvents {
  readonly events: number
  /** The events that have a row, or will. */
  readonly rows: number
  /** True if more events came than were counted. */
  readonly more: boolean
  /** The cursor after them, for the same filter; also valid in the feed. */
  readonly cursor: string
}

/** The events that wake a follower. */
export interface WakeFilter extends FollowFilter {
  /** Only events of these sources; null: all sources. */
  readonly sources: ReadonlySet<number> | null
}

/** A reader's subscription to the end of the feed. */
export interface Wakes {
  /** The end of the feed at the start; later events wake the follower. */
  readonly end: FeedPlace
  /** Completes as soon as there may be something new since it last completed. */
  readonly next: Effect.Effect<void>
}

/**
 * The pause between two counts for people: they learn of a commit of this process at most this much plus one read
 * later.
 */
const PAUSE_MILLIS = 200
/** The pause between two reads while a program waits. */
const SHORT_PAUSE_MILLIS = 20
/**
 * Waking many followers takes longer than reading, so more followers mean a longer pause, up to a limit well below a
 * second.
 */
const PAUSE_PER_LISTENER_MILLIS = 4
const MAX_PAUSE_MILLIS = 800
/** How long a lost signal goes unnoticed. */
const CHECK_INTERVAL_MILLIS = 1_000
const RETRY_MILLIS = 1_000
/** The events of one read. */
const READ_EVENTS = 10_000
/** How long the reader stays when nobody waits: most followers return right after an event, and wait again. */
const STAY_MILLIS = 3_000
/** The most events counted for a follower that was away. */
export const MAX_COUNTED = 10_000

export class FeedFollower extends Context.Service<
  FeedFollower,
  {
    /** The cursor of the feed's end at present. */
    readonly end: (filter: FollowFilter) => Effect.Effect<string, StoreUnavailable>
    /**
     * Reads a cursor, and returns a function that follows the feed from there while its scope is open. That function
     * returns an effect that completes as soon as there are events since its last completion, all in one count.
     */
    readonly follow: (
      filter: FollowFilter,
      cursor: string,
    ) => Effect.Effect<
      Effect.Effect<Effect.Effect<NewEvents>, StoreUnavailable, Scope.Scope>,
      FeedError | StoreUnavailable
    >
    /** Wakes a reader at a place of the feed, while the scope is open. */
    readonly wakes: (filter: WakeFilter, place: FeedPlace) => Effect.Effect<Wakes, StoreUnavailable, Scope.Scope>
  }
>()("@data-cabinet/core/feed/FeedFollower") {
  static readonly layer = Layer.effect(
    FeedFollower,
    Effect.gen(function* () {
      const store = yield* FeedTailStore
      const keys = yield* CursorKeys
      const clock = yield* Clock.Clock
      const tail = new Tail(store, yield* FeedSignal, () => monotonicMillis(clock))
      yield* background("feed follower", () => 0, tail.whileAnyone, { retryAfter: RETRY_MILLIS, quiet: true })
      return FeedFollower.of({
        end: (filter) =>
          Effect.flatMap(store.end, (place) => Effect.map(keys.key, (key) => writeCursor(key, filter, place))),
        follow: Effect.fnUntraced(function* (filter, cursor) {
          const key = yield* keys.key
          const { after } = yield* feedParams(key, pairsOf(filter, cursor))
          return Effect.gen(function* () {
            const waiting = new Waiting(filter, key)
            const from = yield* tail.join(waiting, after)
            const missed = yield* store.count({ ...filter, after, until: from, limit: MAX_COUNTED + 1 })
            // If the database was set back, it lacks the cursor's event: follow from its current end.
            if (missed !== null) waiting.addCounted(missed)
            return spaced(waiting.next)
          })
        }),
        wakes: (filter, place) =>
          Effect.suspend(() => {
            const sleeping = new Sleeping(filter)
            return Effect.map(tail.join(sleeping, place), (end) => ({ end, next: sleeping.next }))
          }),
      })
    }),
  )
}

const pairsOf = ({ sourceId, channel }: FollowFilter, cursor: string): ReadonlyArray<readonly [string, string]> => [
  ["cursor", cursor],
  ...(sourceId === null ? [] : [["source_id", String(sourceId)] as const]),
  ...(channel === null ? [] : [["channel", channel] as const]),
]

/** Completes no sooner than a pause after it last completed, whatever the pace of other followers. */
const spaced = (next: Effect.Effect<NewEvents>): Effect.Effect<NewEvents> => {
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return Effect.andThen(Effect.sleep(PAUSE_MILLIS), next)
    isFirst = false
    return next
  })
}

/** A follower, for whom the end of the feed is read. */
interface Following {
  readonly pauseMillis: number
  /** Called once with the end of the feed, before any event after it. */
  readonly begin: (end: FeedPlace) => void
  /** Reports new events at the end of the feed, some of which may be for others. */
  readonly add: (arrivals: Arrivals) => void
  /** Reports that the end of the feed cannot be read; a follower's own read finds out why. */
  readonly fail: () => void
}

const isOf = ({ sourceId, channel }: FollowFilter, one: Arrived): boolean =>
  (sourceId === null || one.sourceId === sourceId) && (channel === null || one.channel === channel)

/** A follower that reads new events itself, and only needs to know when. */
class Sleeping implements Following {
  readonly pauseMillis = SHORT_PAUSE_MILLIS
  readonly #filter: WakeFilter
  readonly #any = Latch.makeUnsafe(false)

  constructor(filter: WakeFilter) {
    this.#filter = filter
  }

  begin(): void {
    this.#any.closeUnsafe()
  }

  add({ arrived, isSetBack }: Arrivals): void {
    const { sources } = this.#filter
    // Where the database was set back to, the feed itself knows.
    const wakes = (one: Arrived) => isOf(this.#filter, one) && (sources === null || sources.has(one.sourceId))
    if (isSetBack === true || arrived.some(wakes)) this.#any.openUnsafe()
  }

  fail(): void {
    this.#any.openUnsafe()
  }

  readonly next: Effect.Effect<void> = Effect.suspend(() =>
    Effect.map(this.#any.await, () => void this.#any.closeUnsafe()),
  )
}

/** A follower that counts. Events since its last update are one count, so that a slow follower takes no memory. */
class Waiting implements Following {
  readonly pauseMillis = PAUSE_MILLIS
  readonly #filter: FollowFilter
  readonly #key: CursorKey
  /** Open while there is something to report. */
  readonly #any = Latch.makeUnsafe(false)
  #events = 0
  #rows = 0
  #more = false
  /** Up to where events are counted. */
  #place: FeedPlace = FEED_START

  constructor(filter: FollowFilter, key: CursorKey) {
    this.#filter = filter
    this.#key = key
  }

  begin(end: FeedPlace): void {
    this.#place = end
  }

  add({ arrived, end }: Arrivals): void {
    this.#place = end
    for (const one of arrived) if (isOf(this.#filter, one)) this.#count(one)
    this.#tell()
  }

  /** Nothing to do: the count continues with the next arrivals. */
  fail(): void {}

  addCounted({ events, rows }: Pick<Arrived, "events" | "rows">): void {
    this.#more ||= events > MAX_COUNTED
    this.#count({ events: Math.min(events, MAX_COUNTED), rows: Math.min(rows, MAX_COUNTED) })
    this.#tell()
  }

  get next(): Effect.Effect<NewEvents> {
    return Effect.map(this.#any.await, () => {
      this.#any.closeUnsafe()
      const news = { events: this.#events, rows: this.#rows, more: this.#more }
      this.#events = 0
      this.#rows = 0
      this.#more = false
      return { ...news, cursor: writeCursor(this.#key, this.#filter, this.#place) }
    })
  }

  #count({ events, rows }: Pick<Arrived, "events" | "rows">): void {
    this.#events += events
    this.#rows += rows
  }

  /** Called once all events are counted: a waiting follower continues at once, with a cursor after all of them. */
  #tell(): void {
    if (this.#events > 0) this.#any.openUnsafe()
  }
}

/** The one reader of the feed's end. */
class Tail {
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
