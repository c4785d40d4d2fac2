/**
 * Deliveries in the order of the feed. An address in order is a follower whose work lies outside the database: its
 * position is saved after its receiver has responded, so the events that a lost process had sent but not saved are
 * sent again, and none is skipped.
 *
 * Decision: docs/decisions/0087-deliveries-in-order-are-followers.md
 */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"
import type { HeldFollower } from "../follower/FollowerStore.ts"
import type { Batching } from "./SendingSettings.ts"
import type { Outcome } from "./Attempt.ts"
import type { Claimed, Lane, Recipient } from "./DeliveryQueue.ts"

/** The kind of these followers; each has the id of its address as its name. */
export const ORDERED = "delivery"

/** An event to send, and its delivery's number, which every repeat has. */
export interface OrderedItem {
  readonly deliveryId: number
  readonly eventId: number
  readonly place: FeedPlace
  /** When the event was accepted, RFC 3339. */
  readonly createdAt: string
  readonly event: NonNullable<Claimed["event"]>
}

/** The most events of a page. */
export const PAGE_EVENTS = 200
/** The most events of a page for a quick receiver: what a page costs is shared by its events. */
export const QUICK_PAGE_EVENTS = 1_000

/** The next events of an address. */
export interface OrderedPage {
  readonly recipient: Recipient
  readonly batch: Batching
  /** The most requests a second; null: unlimited. */
  readonly rate: number | null
  /** Failed attempts of the first event. */
  readonly failures: number
  readonly items: ReadonlyArray<OrderedItem>
  /** After the last event that was examined; null if there was none. */
  readonly end: FeedPlace | null
  /** More events follow in the feed. */
  readonly hasMore: boolean
  /** How many events the filter excluded. */
  readonly filtered: number
}

/** A line of the log: a failed attempt, or the events that a page delivered. */
export interface OrderedAttempt {
  readonly deliveryId: number
  /** The last of its events. */
  readonly eventId: number
  readonly events: number
  /** The acceptance time of that event, RFC 3339. */
  readonly createdAt: string
  readonly number: number
  readonly delivered: boolean
  /** How long ago it began. */
  readonly agoMillis: number
  readonly outcome: Outcome
}

/** What has happened since the last call. */
export interface OrderedProgress {
  /** Everything up to here is delivered or excluded by the filter; null: no change. */
  readonly place: FeedPlace | null
  readonly lines: ReadonlyArray<OrderedAttempt>
  readonly filtered: number
  /**
   * `keep` renews the lease. `release` ends it, and the follower rests. `fail`: the first event after the place was not
   * delivered, and waits.
   */
  readonly next:
    | { readonly is: "keep" }
    | { readonly is: "release"; readonly restMillis: number }
    | { readonly is: "fail"; readonly afterMillis: number; readonly error: string }
}

/** Why an event is not skipped. */
export type SkipObstacle = "not_in_order" | "not_waiting"

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class OrderedQueue extends Context.Service<
  OrderedQueue,
  {
    /** Claims addresses with events to send. `failing`: those whose first event has failed. */
    readonly claim: (lane: Lane, limit: number, leaseMillis: number) => Returns<ReadonlyArray<HeldFollower>>
    /** Milliseconds until one may be claimed; 0 if now. Null: not before a new event. `none`: no address is ordered. */
    readonly nextDue: (lane: Lane) => Returns<number | null | "none">
    /** The next events; null if the lease is lost, or the address is paused or removed. A page for a quick receiver has more. */
    readonly page: (held: HeldFollower, isQuick: boolean) => Returns<OrderedPage | null>
    /** Saves position and log; false if the lease is lost, and then nothing is saved. */
    readonly record: (held: HeldFollower, progress: OrderedProgress, leaseMillis: number) => Returns<boolean>
    /**
     * Moves the position past the event at which a failing address waits, which is then no longer sent automatically.
     * The log keeps the reason. None if no such address exists.
     */
    readonly skip: (
      addressId: number,
      eventId: number,
      reason: string,
    ) => Returns<Option.Option<{ readonly obstacle: SkipObstacle | null; readonly waitsAt: number | null }>>
  }
>()("@data-cabinet/core/delivery/OrderedQueue") {}
