/** The end of the feed: its place, and the number of new events, counted without being read. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import type { FeedPlace } from "./FeedStore.ts"

/** Events of one source that came by one channel. */
export interface Arrived {
  readonly sourceId: number
  readonly channel: Channel
  readonly events: number
  /** The events that have a row, or will. */
  readonly rows: number
}

/** New events, counted by source and channel. */
export interface Arrivals {
  readonly arrived: ReadonlyArray<Arrived>
  /** The position of the last event, or where the read started if there was none. */
  readonly end: FeedPlace
  readonly hasMore: boolean
  /** The database was set back, and lacks the event at the start of the read: later arrivals are unknown. */
  readonly isSetBack?: true
}

/** Which events to count, and between which places. */
export interface CountBetween {
  readonly after: FeedPlace
  /** Up to and with the event at this place. */
  readonly until: FeedPlace
  readonly sourceId: number | null
  readonly channel: Channel | null
  /** No more than this many are counted. */
  readonly limit: number
}

/**
 * Where a reader without a cursor may begin: at the end of the feed, before the first event received at or after a time
 * (RFC 3339), or before the last N events. With a time, a few events received just before it may come as well, because
 * the feed is in the order of acceptance.
 */
export type FeedStart = "now" | { readonly time: string } | { readonly last: number }

/** Like `FeedStore`, it knows only events before which no running accept can still commit another. */
export class FeedTailStore extends Context.Service<
  FeedTailStore,
  {
    /** The place of the last event; the beginning of an empty feed. */
    readonly end: Effect.Effect<FeedPlace, StoreUnavailable>
    /** The place of a start among the events of a source and a channel; the beginning if all of them come after it. */
    readonly start: (
      filter: Pick<CountBetween, "sourceId" | "channel">,
      start: FeedStart,
    ) => Effect.Effect<FeedPlace, StoreUnavailable>
    /** The next events, at most `limit`. */
    readonly arrivals: (after: FeedPlace, limit: number) => Effect.Effect<Arrivals, StoreUnavailable>
    /** Null if the database does not have the event at `after`: it was set back to an earlier state. */
    readonly count: (between: CountBetween) => Effect.Effect<Pick<Arrived, "events" | "rows"> | null, StoreUnavailable>
  }
>()("@data-cabinet/core/feed/FeedTailStore") {}
