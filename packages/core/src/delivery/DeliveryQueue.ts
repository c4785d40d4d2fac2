/**
 * The deliveries that are due, and the log of their attempts. A delivery is created with its event, in the event's own
 * transaction; after that only this port changes it.
 */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { RequestHeader } from "../network/RequestHeader.ts"
import type { Slice } from "../pagination/FillPage.ts"
import type { Attempt, Delivery, DeliveryOutcome, DeliveryState, DeliveryType, Outcome } from "./Attempt.ts"
import type { BodySetting } from "./BodySetting.ts"
import type { ClientIdentity } from "./ClientIdentity.ts"
import { isTimestamp } from "../text/Timestamp.ts"

/** `healthy` and `failing` addresses are claimed separately, so that failing ones never take capacity from healthy ones. */
export type Lane = "healthy" | "failing"

/** Which deliveries to claim, and for how long. */
export interface ClaimRequest {
  readonly lane: Lane
  /** The most deliveries in total. */
  readonly limit: number
  /** The most deliveries per address, unless `room` has another number for it (0: none). */
  readonly perAddress: number
  readonly room: ReadonlyMap<number, number>
  /** Addresses after this one are served first, then those from the start: round robin across claims. */
  readonly after: number
  /** How long the claim is valid. A delivery that is not settled by then can be claimed again. */
  readonly leaseSeconds: number
}

/** The subscription of an agent, as its deliveries need it. */
export interface AgentRecipient {
  readonly subscription: string
  /** The event type. */
  readonly event: string
  /** Null: events of every source. */
  readonly sourceId: number | null
}

/** An address as a request to it needs it. */
export interface Recipient {
  readonly addressId: number
  readonly url: string
  /**
   * One secret, or two for a day after a rotation, newest first. Empty if the key that encrypts them is unavailable.
   */
  readonly secrets: ReadonlyArray<string>
  /** The address's own headers; null if the key that encrypts them is unavailable. */
  readonly headers?: ReadonlyArray<RequestHeader> | null
  /** The address's client certificate, if it has one; null if the key that encrypts its private key is unavailable. */
  readonly identity?: ClientIdentity | null
  readonly timeoutSeconds?: number | null
  /** What its requests carry; by default the contract's own body. */
  readonly body?: BodySetting
  /** What an agent has subscribed to; absent for the owner's addresses. */
  readonly agent?: AgentRecipient
}

/** A claimed delivery, with everything that one attempt needs. */
export interface Claimed {
  readonly id: number
  readonly type: DeliveryType
  /** Deliveries of one claim to the same address share it. */
  readonly recipient: Recipient
  /** When it may be sent, in milliseconds of this process's clock; null for an address without a rate. */
  readonly notBeforeMillis?: number | null
  /** The attempt's number; a later claim invalidates it. */
  readonly attempt: number
  /** Failed attempts before this one. */
  readonly failures: number
  readonly createdAt: string
  /** The event as it appears in the feed, as JSON in UTF-8; null for a ping. */
  readonly event: { readonly json: Uint8Array; readonly sourceId: number; readonly sourceName: string } | null
}

/** The next state of a delivery after an attempt; seconds count from the time of settlement. */
export type NextState =
  | { readonly state: "delivered" }
  | { readonly state: "failed" }
  | { readonly state: "retry"; readonly afterSeconds: number }

/** The outcome of an attempt, and what follows from it. */
export interface Settlement {
  readonly deliveryId: number
  readonly attempt: number
  readonly outcome: Outcome
  readonly next: NextState
}

/** Which attempts to list. */
export interface LogQuery {
  readonly addressId: number
  readonly limit: number
  /** Only attempts that began before this time (RFC 3339). */
  readonly before?: string
  /**
   * With `before`, for paging backwards: also the attempts that began exactly then, of deliveries with a lower number.
   * Deliveries claimed together begin at the same time.
   */
  readonly beforeDelivery?: number
  readonly failedOnly?: boolean
}

/** Which deliveries to list; a field that is null does not filter. */
export interface DeliveryFilter {
  readonly addressId: number | null
  readonly eventId: number | null
  readonly state: DeliveryState | null
  readonly type?: DeliveryType | null
  /** The source of the event; pings have none. */
  readonly sourceId?: number | null
  /** True: only deliveries that wait after a failed attempt. */
  readonly retrying?: boolean
  /** Of the last attempt. */
  readonly outcome?: DeliveryOutcome | null
  /** Last attempted (before the first attempt: created) at or after this time, and before the other (RFC 3339). */
  readonly from?: string | null
  readonly to?: string | null
}

/** Where a page of a list of deliveries ends. */
export interface DeliveryPlace {
  /** The time of the last one's last attempt, or of its creation, and its number. */
  readonly at: string
  readonly id: number
  /** Of the deliveries without an attempt, only those below this number follow: they are listed in a separate order. */
  readonly untriedBelow: number
}

/** Deliveries of an address whose events were accepted in `[from, to)` (RFC 3339). */
export interface ResendRange {
  readonly addressId: number
  readonly from: string
  readonly to: string
  /** `failed`: deliveries that wait for a retry. */
  readonly only: "all" | "failed"
}

/** The queue's state for the operator and the metrics. `stuck` must be zero. */
export interface QueueGauge {
  /** Due now, at addresses that are neither paused nor failing. */
  readonly due: number
  /** Waiting for a later attempt, in flight, or due at failing addresses. */
  readonly retrying: number
  /** Waiting at paused addresses. */
  readonly paused: number
  /** Seconds since the oldest of `due` became due; 0 if none is due. */
  readonly oldestDueSeconds: number
  /** Overdue by more than two minutes at a healthy, unpaused address that receives nothing: no worker is running. */
  readonly stuck: number
  /** Overdue by more than two minutes at an address that does receive, but more slowly than its events arrive. */
  readonly behind: number
  /** The addresses with the most of these, at most five. */
  readonly behindAddresses: ReadonlyArray<number>
  readonly failingAddresses: number
}

/** Why a delivery is never sent again. */
export type ResendObstacle = "ping" | "address_removed" | "event_deleted"

type Returns<A> = Effect.Effect<A, StoreUnavailable>

/** None if the delivery or the address does not exist. */
type Found<A> = Returns<Option.Option<A>>

/** How many deliveries of a list there are of each type and source. */
export interface DeliveryCounts {
  readonly groups: ReadonlyArray<{
    readonly type: DeliveryType
    /** Null: a ping, or the event was erased. */
    readonly sourceId: number | null
    readonly deliveries: number
  }>
  /** Whether all were counted, and not only the newest. */
  readonly whole: boolean
}

export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Claims due deliveries. Also cancels those whose event was deleted, and logs lost attempts as lost. */
    readonly claim: (request: ClaimRequest) => Effect.Effect<ReadonlyArray<Claimed>, StoreUnavailable>
    /** Logs the attempts and updates the deliveries. A settlement whose lease was taken over changes nothing. */
    readonly settle: (batch: ReadonlyArray<Settlement>) => Effect.Effect<void, StoreUnavailable>
    /** Releases claimed deliveries unsent: they are due as before. A delivery whose lease was taken over is not changed. */
    readonly release: (claimed: ReadonlyArray<Pick<Claimed, "id" | "attempt">>) => Effect.Effect<void, StoreUnavailable>
    /** Milliseconds until such a request could claim something: 0 if it could now, null if nothing is scheduled. */
    readonly nextDue: (
      request: Pick<ClaimRequest, "lane" | "perAddress" | "room">,
    ) => Effect.Effect<number | null, StoreUnavailable>
    /** Creates a ping that the caller has already claimed; the caller sends and settles it. */
    readonly ping: (addressId: number, leaseSeconds: number) => Found<Claimed>
    /**
     * Makes the delivery due now, whatever its state, and restarts its retry schedule. Has no effect while it is in
     * flight, or if an obstacle exists.
     */
    readonly resend: (
      deliveryId: number,
    ) => Found<{ readonly delivery: Delivery; readonly obstacle: ResendObstacle | null }>
    /** Resends all deliveries of a range; returns how many. */
    readonly resendRange: (range: ResendRange) => Found<number>
    /** How many deliveries `resendRange` would make due. */
    readonly countRange: (range: ResendRange) => Found<number>
    /** Resends all deliveries of a list that can be resent; returns how many. */
    readonly resendListed: (filter: DeliveryFilter) => Returns<number>
    /** How many deliveries `resendListed` would make due. */
    readonly countListed: (filter: DeliveryFilter) => Returns<number>
    /** Stops all further attempts. A delivery that was already delivered stays unchanged. */
    readonly cancel: (deliveryId: number) => Found<Delivery>
    /** Lists the attempts of a delivery address, newest first, even of a removed one. */
    readonly log: (query: LogQuery) => Returns<ReadonlyArray<Attempt>>
    readonly find: (deliveryId: number) => Found<Delivery>
    /** Counts about the newest `examine` deliveries of a list. */
    readonly counts: (filter: DeliveryFilter, examine: number) => Returns<DeliveryCounts>
    /** The newest deliveries after `before`, at most `limit`. Examines about `examine` deliveries. */
    readonly slice: (query: {
      readonly filter: DeliveryFilter
      readonly before: DeliveryPlace | null
      readonly limit: number
      readonly examine: number
    }) => Returns<Slice<Delivery, DeliveryPlace>>
    /** The attempts of a delivery, newest first, at most a thousand. */
    readonly attemptsOf: (deliveryId: number) => Returns<ReadonlyArray<Attempt>>
    readonly ofEvent: (eventId: number) => Effect.Effect<ReadonlyArray<Delivery>, StoreUnavailable>
    readonly gauge: Effect.Effect<QueueGauge, StoreUnavailable>
    /**
     * Deletes attempts older than the given days (failed ones are kept at least as long as delivered ones), and ended
     * deliveries of that age that have no attempts left. Works in small batches; returns how much was deleted.
     */
    readonly prune: (keep: {
      readonly deliveredDays: number
      readonly failedDays: number
    }) => Effect.Effect<{ readonly partitions: number; readonly deliveries: number }, StoreUnavailable>
  }
>()("@data-cabinet/core/delivery/DeliveryQueue") {}

/** Where a page of a list of deliveries ends, as a text: the APIs' `next_cursor`. */
export const deliveryCursor = ({ at, id, untriedBelow }: DeliveryPlace): string => `${at}_${id}_${untriedBelow}`

const CURSOR = /^([^_]{1,40})_(0|[1-9]\d{0,15})_(0|[1-9]\d{0,15})$/

/** Undefined if the text is not a cursor. */
export const deliveryPlace = (text: string): DeliveryPlace | undefined => {
  const [, at = "", ...numbers] = CURSOR.exec(text) ?? []
  const [id = Number.NaN, untriedBelow = Number.NaN] = numbers.map(Number)
  const isValid = isTimestamp(at) && Number.isSafeInteger(id) && Number.isSafeInteger(untriedBelow)
  return isValid ? { at, id, untriedBelow } : undefined
}
