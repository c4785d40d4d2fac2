/**
 * Counts events and attempts per hour, following the feed and the log of attempts. Each event is counted once,
 * whichever process counts it, and never again when it is trashed, restored or purged.
 */
import * as Shape from "../json/Shape.ts"
import { Context, type Effect } from "effect"
import type { DeliveryOutcome } from "../delivery/Attempt.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { HeldFollower } from "../follower/FollowerStore.ts"

/** The steps by which events are counted. */
export const ACTIVITY_STEPS = ["hour", "day"] as const

/** Hours are in UTC. A day is in the cabinet's time zone, and consists of the hours that begin in it. */
export type ActivityStep = (typeof ACTIVITY_STEPS)[number]

/** Events, by kind. */
export interface EventCounts {
  /** All events; some of them are also counted in a field below. */
  readonly events: number
  readonly repeats: number
  readonly empty: number
  /** From files and first polls. */
  readonly history: number
}

/** An hour or a day. */
export interface ActivityBucket extends EventCounts {
  /** When it begins, RFC 3339. */
  readonly at: string
}

const bucketMembers: Shape.Members<ActivityBucket> = {
  at: Shape.time("Its begin."),
  events: Shape.whole("All events received in it."),
  repeats: Shape.whole("How many of them are repeats."),
  empty: Shape.whole("How many of them have no filled field."),
  history: Shape.whole("How many of them come from files and first runs of polls."),
}

/** The JSON of an hour and its description. */
export const hourShape = Shape.object<ActivityBucket>("An hour.", bucketMembers)
/** The JSON of an hour or a day and its description. */
export const activityStepShape = Shape.named(
  "ActivityStep",
  Shape.object<ActivityBucket>("An hour or a day.", bucketMembers),
)

/** Which steps to return, of which sources. */
export interface ActivityQuery {
  /** Null: all sources, including deleted ones. */
  readonly sourceId: number | null
  readonly step: ActivityStep
  /** RFC 3339; null: as many steps as `last` before the end. */
  readonly from: string | null
  /** RFC 3339; null: now. The step that it falls into is the last. */
  readonly to: string | null
  /** The number of steps if `from` is missing. */
  readonly last: number
  readonly timeZone: string
}

/** When a source received. */
export interface SourceActivity {
  readonly sourceId: number
  /** The time (RFC 3339) and number of its last event; null without one. */
  readonly lastAt: string | null
  readonly lastEventId: number | null
  /** Events per day, today last. */
  readonly days: ReadonlyArray<number>
  /**
   * The current silence and the source's usual ones; null while the silence is short. History does not end a silence.
   */
  readonly silence: Silence | null
}

/** A time without events other than history. */
export interface Silence {
  readonly since: string
  readonly seconds: number
  /** The number of days with events in the four weeks before it. */
  readonly activeDays: number
  /** The third longest silence in those weeks, in seconds; null if there were fewer than three. */
  readonly usualSeconds: number | null
}

const silenceShape = Shape.object<Silence>(
  "Null while it is shorter than two hours, and for a source that is switched off.",
  {
    since: Shape.time("When the last event other than history was received."),
    seconds: Shape.leaf<number>({ type: "number", description: "How long it has been silent." }),
    activeDays: Shape.whole("The number of days with events in the four weeks before."),
    usualSeconds: Shape.orNull(
      Shape.leaf<number>({ type: "number" }),
      "The third-longest silence of those weeks; null if there were fewer than three.",
    ),
  },
)

/** The members of the JSON of a source's activity. */
export const sourceActivityMembers: Shape.Members<SourceActivity> = {
  sourceId: Shape.id("The source's id."),
  lastAt: Shape.orNull(Shape.time("When its last event was received; null without one.")),
  lastEventId: Shape.orNull(Shape.id("Its last event.", 10417)),
  days: Shape.list(Shape.whole(), "Events of the last 7 days, today last."),
  silence: Shape.orNull(silenceShape),
}

/** The attempts of an hour at an address. */
export interface AttemptCounts {
  /** RFC 3339. */
  readonly at: string
  readonly addressId: number
  /** Delivered within this many milliseconds, but not within the previous step; null: failed. */
  readonly withinMillis: number | null
  /** `error`: also failed ones that an older version counted. */
  readonly outcome: DeliveryOutcome
  readonly attempts: number
}

/** Deliveries waiting for a failing address. */
export interface WaitingDeliveries {
  readonly addressId: number
  /** At most `MOST_WAITING` are counted. */
  readonly waiting: number
  /** When the oldest of them began to wait, RFC 3339. */
  readonly oldest: string | null
}

/** The JSON of the deliveries waiting for an address, and its description. */
export const waitingShape = Shape.object<WaitingDeliveries>("A failing address.", {
  addressId: Shape.id("The address's id."),
  waiting: Shape.whole("How many deliveries wait for it, counted to 1,000."),
  oldest: Shape.orNull(Shape.time("When the oldest of them was created.")),
})

/** The most waiting deliveries of an address that are counted. */
export const MOST_WAITING = 1_000

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class ActivityStore extends Context.Service<
  ActivityStore,
  {
    /**
     * Counts the next events, at most `limit`, for the holder of the follower. With null it counts for a reader, and
     * does nothing while another process is moving the follower. Returns how many; null if the holder has lost its
     * lease.
     */
    readonly countEvents: (limit: number, held: HeldFollower | null) => Returns<number | null>
    /** Counts the attempts of a few minutes; false if no minute has ended, or another process is counting. */
    readonly countAttempts: Returns<boolean>
    /** Every step of the period, oldest first. */
    readonly events: (query: ActivityQuery) => Returns<ReadonlyArray<ActivityBucket>>
    /** Every source that is not deleted, with its events of the last `days` days. */
    readonly sources: (query: {
      readonly days: number
      readonly timeZone: string
    }) => Returns<ReadonlyArray<SourceActivity>>
    /** The attempts of the last hours: those that are counted, and some thousands of the latest that are not yet. */
    readonly attempts: (hours: number) => Returns<ReadonlyArray<AttemptCounts>>
    readonly waitingAtFailing: Returns<ReadonlyArray<WaitingDeliveries>>
    /** When the first uncounted event was received, RFC 3339; null if only events of the last minute are uncounted. */
    readonly firstUncounted: Returns<string | null>
  }
>()("@data-cabinet/core/activity/ActivityStore") {}
