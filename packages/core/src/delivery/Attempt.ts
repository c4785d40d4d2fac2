/** One attempt to deliver: what was seen of it, and how it is shown in the log. */

/** How many bytes of an answer the log keeps. */
export const RESPONSE_KEPT_BYTES = 2048

/** What came of sending one request. `status` is null when no answer was had, and then `failure` says why in words. */
export interface Outcome {
  readonly status: number | null
  readonly failure: string | null
  /** The address that the socket was connected to; null when no connection was made. */
  readonly peer: string | null
  readonly durationMs: number
  /** The beginning of the answer's body as text; null when there was none. */
  readonly responseBody: string | null
}

/** An attempt in the log. Times are RFC 3339 in UTC. */
export interface Attempt extends Outcome {
  readonly deliveryId: number
  readonly type: DeliveryType
  readonly eventId: number | null
  readonly addressId: number
  /** From 1; a gap is an attempt that was given back unsent. */
  readonly number: number
  readonly at: string
  readonly delivered: boolean
  /** When the next attempt comes due; null when there is none. */
  readonly nextAt: string | null
}

export type DeliveryType = "event.received" | "ping"

/** `due`: to be sent, now or later; `failed`: a ping that was not answered by 2xx, for a ping is not repeated. */
export type DeliveryState = "due" | "delivered" | "failed" | "cancelled"

/** A delivery as its owner sees it. */
export interface Delivery {
  readonly id: number
  readonly type: DeliveryType
  readonly addressId: number
  readonly eventId: number | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly createdAt: string
  /** Null unless it is due. */
  readonly dueAt: string | null
}
