/**
 * The deliveries that are due, and the log of what came of them. A delivery is born with its event, in the event's own
 * transaction; from there on only this port moves it.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { AddressError } from "./AddressError.ts"
import type { Attempt, Delivery, DeliveryType, Outcome } from "./Attempt.ts"

/** `healthy` addresses and `failing` ones are claimed apart, so that the second never take the first ones' places. */
export type Lane = "healthy" | "failing"

export interface ClaimRequest {
  readonly lane: Lane
  /** At most so many in all. */
  readonly limit: number
  /** How many of one address, where `room` names another number for it (0: none). */
  readonly perAddress: number
  readonly room: ReadonlyMap<number, number>
  /** Addresses after this one are served first, then those from the start: a round robin over claims. */
  readonly after: number
  /** How long the claim holds. A delivery that is not settled by then can be claimed again. */
  readonly leaseSeconds: number
}

/** A claimed delivery, with all that one attempt needs. */
export interface Claimed {
  readonly id: number
  readonly type: DeliveryType
  readonly addressId: number
  readonly url: string
  /** One secret, or two for a day after a rotation; the newest first. */
  readonly secrets: readonly [string, ...Array<string>]
  /** The attempt's number; a claim after this one voids it. */
  readonly attempt: number
  /** Failed attempts before this one. */
  readonly failures: number
  readonly createdAt: string
  /** The event as the feed shows it; null for a ping. */
  readonly event: { readonly text: string; readonly sourceId: number; readonly sourceName: string } | null
}

/** What becomes of the delivery after an attempt; seconds are counted from the moment of settling. */
export type NextState =
  | { readonly state: "delivered" }
  | { readonly state: "failed" }
  | { readonly state: "retry"; readonly afterSeconds: number }

export interface Settlement {
  readonly deliveryId: number
  readonly attempt: number
  readonly outcome: Outcome
  readonly verdict: NextState
}

export interface LogQuery {
  readonly addressId: number
  readonly limit: number
  /** Only attempts begun before this moment (RFC 3339), to page backwards. */
  readonly before?: string
  readonly failedOnly?: boolean
}

/** What the operator and the metrics look at. `stuck` must read zero. */
export interface QueueGauge {
  /** Due now, at addresses that are neither paused nor failing. */
  readonly due: number
  /** Waiting for a later attempt, under way, or due at failing addresses. */
  readonly retrying: number
  /** Waiting at paused addresses. */
  readonly paused: number
  /** Seconds since the oldest of `due` came due; 0 when there is none. */
  readonly oldestDueSeconds: number
  /** Past due for over two minutes at a healthy address that is not paused: nobody is working. */
  readonly stuck: number
  readonly failingAddresses: number
}

type Answer<A> = Effect.Effect<A, AddressError | StoreUnavailable>

export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Takes due deliveries. Those whose event was deleted are cancelled on the way; a lost attempt is logged as lost. */
    readonly claim: (request: ClaimRequest) => Effect.Effect<ReadonlyArray<Claimed>, StoreUnavailable>
    /** Writes the attempts down and moves the deliveries on. A settlement whose lease was taken over changes nothing. */
    readonly settle: (batch: ReadonlyArray<Settlement>) => Effect.Effect<void, StoreUnavailable>
    /** Gives claimed deliveries back unsent: they are due as they were. One whose lease was taken over is left alone. */
    readonly release: (claimed: ReadonlyArray<Pick<Claimed, "id" | "attempt">>) => Effect.Effect<void, StoreUnavailable>
    /** Milliseconds until something could be claimed by such a request; 0 for now, null for nothing in sight. */
    readonly nextDue: (
      request: Pick<ClaimRequest, "lane" | "perAddress" | "room">,
    ) => Effect.Effect<number | null, StoreUnavailable>
    /** Makes a ping, already claimed by the caller, who sends and settles it. */
    readonly ping: (addressId: number, leaseSeconds: number) => Answer<Claimed>
    /**
     * Makes it due now, whatever became of it, its retry interval from the start. Under way already: nothing to do. A
     * ping, a deleted event, and what was for an address that is removed, are refused.
     */
    readonly resend: (deliveryId: number) => Answer<Delivery>
    /** The same for all of an address whose events were accepted in `[from, to)` (RFC 3339); answers how many. */
    readonly resendRange: (addressId: number, from: string, to: string) => Answer<number>
    /** Nothing more is sent. Of a delivery already delivered nothing changes. */
    readonly cancel: (deliveryId: number) => Answer<Delivery>
    /** The attempts of an address, newest first. */
    readonly log: (query: LogQuery) => Answer<ReadonlyArray<Attempt>>
    readonly find: (deliveryId: number) => Answer<Delivery>
    readonly ofEvent: (eventId: number) => Effect.Effect<ReadonlyArray<Delivery>, StoreUnavailable>
    readonly gauge: Effect.Effect<QueueGauge, StoreUnavailable>
    /**
     * Forgets attempts older than the given days (failed ones are kept at least as long), and deliveries that ended
     * before every attempt of theirs was forgotten. In small bites; answers what it let go.
     */
    readonly prune: (keep: {
      readonly deliveredDays: number
      readonly failedDays: number
    }) => Effect.Effect<{ readonly partitions: number; readonly deliveries: number }, StoreUnavailable>
  }
>()("@data-cabinet/core/delivery/DeliveryQueue") {}
