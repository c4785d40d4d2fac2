/** The followers of the feed's end: programs that read new events themselves, and people for whom they are counted. */
import { Effect, Latch } from "effect"
import type { Channel } from "../event/EventLog.ts"
import type { CursorKey } from "../pagination/CursorKey.ts"
import { writeCursor } from "./FeedParams.ts"
import { FEED_START, type FeedPlace } from "./FeedStore.ts"
import type { Arrivals, Arrived } from "./FeedTailStore.ts"

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

/**
 * The pause between two counts for people: they learn of a commit of this process at most this much plus one read
 * later.
 */
export const PAUSE_MILLIS = 200
/** The pause between two reads while a program waits. */
const SHORT_PAUSE_MILLIS = 20

/** The most events counted for a follower that was away. */
export const MAX_COUNTED = 10_000

/** A follower on whose behalf the end of the feed is read. */
export interface Following {
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
export class Sleeping implements Following {
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
    // The feed itself finds out where the database was set back to.
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
export class Waiting implements Following {
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

  /** Nothing to do here: the count continues with the next arrivals. */
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
