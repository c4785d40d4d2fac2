/**
 * Counts of each hour, taken along the feed and the log of attempts: an event is counted once, whichever process counts
 * it, and never again when it is trashed, restored or purged.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export const ACTIVITY_STEPS = ["hour", "day"] as const

/** Hours are those of UTC. A day is one of the cabinet's time zone, and has the hours that begin in it. */
export type ActivityStep = (typeof ACTIVITY_STEPS)[number]

/** Events, by kind. */
export interface EventCounts {
  /** All events, of which some are among the following. */
  readonly events: number
  readonly repeats: number
  readonly empty: number
  /** From files and first polls. */
  readonly history: number
}

/** An hour or a day. */
export interface ActivityBucket extends EventCounts {
  /** Its begin, RFC 3339. */
  readonly at: string
}

export interface ActivityQuery {
  /** Null: all sources, deleted ones too. */
  readonly sourceId: number | null
  readonly step: ActivityStep
  /** RFC 3339; null: as many steps as `last` before the end. */
  readonly from: string | null
  /** RFC 3339; null: now. The step that it falls into is the last. */
  readonly to: string | null
  /** How many steps there are without `from`. */
  readonly last: number
  readonly timeZone: string
}

/** When a source received. */
export interface SourceActivity {
  readonly sourceId: number
  /** Its last event, RFC 3339 and number; null without one. */
  readonly lastAt: string | null
  readonly lastEventId: number | null
  /** Events of the last days, today last. */
  readonly days: ReadonlyArray<number>
  /** How long only history came, and the source's usual silences; null while the silence is short. */
  readonly silence: Silence | null
}

/** A time without events but history. */
export interface Silence {
  readonly since: string
  readonly seconds: number
  /** On how many days of the four weeks before it events came. */
  readonly activeDays: number
  /** The third longest time without events in those weeks, in seconds; null if there are not three. */
  readonly usualSeconds: number | null
}

/** The attempts of an hour at an address. */
export interface AttemptCounts {
  /** RFC 3339. */
  readonly at: string
  readonly addressId: number
  /** Delivered within this many milliseconds, but not within the previous step; null: failed. */
  readonly withinMillis: number | null
  readonly attempts: number
}

/** Deliveries waiting for a failing address. */
export interface WaitingDeliveries {
  readonly addressId: number
  /** At most `MOST_WAITING` are counted. */
  readonly waiting: number
  /** Since when the oldest waits, RFC 3339. */
  readonly oldest: string | null
}

export const MOST_WAITING = 1_000

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class ActivityStore extends Context.Service<
  ActivityStore,
  {
    /** Counts the next at most `limit` events; returns how many, and 0 while another process counts. */
    readonly countEvents: (limit: number) => Returns<number>
    /** Counts the attempts of some minutes; false if no minute is over, or another process counts. */
    readonly countAttempts: Returns<boolean>
    /** Every step of the period, oldest first. */
    readonly events: (query: ActivityQuery) => Returns<ReadonlyArray<ActivityBucket>>
    /** Every source that is not deleted, with this many days. */
    readonly sources: (query: {
      readonly days: number
      readonly timeZone: string
    }) => Returns<ReadonlyArray<SourceActivity>>
    /** The attempts of the last hours, as far as they are counted. */
    readonly attempts: (hours: number) => Returns<ReadonlyArray<AttemptCounts>>
    readonly waitingAtFailing: Returns<ReadonlyArray<WaitingDeliveries>>
    /** When the first event was received that is not counted yet, RFC 3339; null if all are but those of the last minute. */
    readonly firstUncounted: Returns<string | null>
  }
>()("@data-cabinet/core/activity/ActivityStore") {}
