/** One attempt to deliver: its outcome, and how the log shows it. */

import * as Shape from "../json/Shape.ts"

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
  /**
   * How many events this line stands for. More than one: a batch, or a page that was delivered in order, of which
   * `deliveryId` and `eventId` name the last; of a failed batch they name the first.
   */
  readonly events: number
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

/** The members of a request's outcome as the APIs show them. */
export const outcomeMembers = {
  status: Shape.orNull(Shape.whole("The status of the response; null: there was none.")),
  failure: Shape.orNull(Shape.text("Why there was none; else null.")),
  peer: Shape.orNull(Shape.text("The address that was connected to.")),
  durationMs: Shape.whole("How long it took."),
  responseBody: Shape.orNull(Shape.text("The beginning of the response.")),
} satisfies Shape.Members<Outcome>

/** An attempt as the APIs show it. */
export const attemptShape = Shape.named(
  "Attempt",
  Shape.object<Attempt>("An attempt to deliver.", {
    deliveryId: Shape.id("The delivery's id.", 731),
    type: Shape.oneOf(["event.received", "ping"]),
    eventId: Shape.orNull(Shape.id("The event; null for a ping.", 10417)),
    addressId: Shape.id("The address's id."),
    number: Shape.whole("From 1."),
    at: Shape.time("When it began."),
    delivered: Shape.flag("Whether the response was a 2xx."),
    ...outcomeMembers,
    nextAt: Shape.orNull(Shape.time("When the next one is due; else null.")),
    events: Shape.whole(
      "How many events this line stands for: more than one for a batch, or for events that were delivered in order. `event_id` is the last of them; the first, if the attempt failed.",
    ),
  }),
)

const members = {
  id: Shape.id("The delivery's id.", 731),
  type: Shape.oneOf(["event.received", "ping"]),
  addressId: Shape.id("The address's id."),
  eventId: Shape.orNull(Shape.id("The event; null for a ping.", 10417)),
  state: Shape.oneOf(DELIVERY_STATES),
  attempts: Shape.whole("How many were begun."),
  createdAt: Shape.time("When it was created."),
  dueAt: Shape.orNull(Shape.time("When it is sent next; null unless it is due.")),
} satisfies Shape.Members<Delivery>

/** A delivery as the APIs show it. */
export const deliveryShape = Shape.named("DeliveryState", Shape.object<Delivery>("A delivery.", members))

/** A delivery with its log, newest attempt first. */
export interface DeliveryWithLog extends Delivery {
  readonly log: ReadonlyArray<Attempt>
}

/** A delivery with its log as the APIs show it. */
export const deliveryWithLogShape = Shape.named(
  "DeliveryWithLog",
  Shape.object<DeliveryWithLog>("A delivery with its attempts.", {
    ...members,
    log: Shape.list(attemptShape, "Its attempts, newest first."),
  }),
)
