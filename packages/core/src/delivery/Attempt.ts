/** One attempt to deliver: its outcome, and how the log shows it. */

/** How many bytes of a response the log keeps. */
export const RESPONSE_KEPT_BYTES = 2048

/** The outcome of one request. `status` is null if no response was received, and then `failure` says why. */
export interface Outcome {
  readonly status: number | null
  readonly failure: string | null
  /** The address that the socket connected to; null if no connection was established. */
  readonly peer: string | null
  readonly durationMs: number
  /** The beginning of the response body as text; null without a response. */
  readonly responseBody: string | null
}

/** An attempt in the log. Times are RFC 3339 in UTC. */
export interface Attempt extends Outcome {
  readonly deliveryId: number
  readonly type: DeliveryType
  readonly eventId: number | null
  readonly addressId: number
  /** Counts from 1; a gap is an attempt that was released unsent. */
  readonly number: number
  readonly at: string
  readonly delivered: boolean
  /** When the next attempt is due; null if no attempt follows. */
  readonly nextAt: string | null
}

/** The type of a delivery's body. */
export type DeliveryType = "event.received" | "ping"

/** `due`: to be sent, now or later; `failed`: a ping without a 2xx response, because pings are not retried. */
export type DeliveryState = (typeof DELIVERY_STATES)[number]
/** The states of a delivery. */
export const DELIVERY_STATES = ["due", "delivered", "failed", "cancelled"] as const

/** A delivery as shown to its owner. */
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
