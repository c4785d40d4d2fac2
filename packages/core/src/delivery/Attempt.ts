/** One attempt to deliver: its outcome, and how the log shows it. */

import * as Shape from "../json/Shape.ts"

/** How many bytes of a response the log keeps. */
export const RESPONSE_KEPT_BYTES = 2048

/**
 * Where the time of a request went, in milliseconds. Null: it did not have that phase, because a connection was still open,
 * the host is an IP address, or it ended before.
 */
export interface Timing {
  readonly nameMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly waitMs: number | null
  readonly bodyMs: number | null
}

/** The phases in their order. */
export const PHASES = ["nameMs", "connectMs", "tlsMs", "waitMs", "bodyMs"] as const satisfies ReadonlyArray<
  keyof Timing
>

/** Of a request that had no phase. */
export const NO_TIMING: Timing = { nameMs: null, connectMs: null, tlsMs: null, waitMs: null, bodyMs: null }

/** The outcome of one request. `status` is null if no response was received, and then `failure` says why. */
export interface Outcome {
  readonly status: number | null
  readonly failure: string | null
  /** The address that the socket connected to; null if no connection was established. */
  readonly peer: string | null
  readonly durationMs: number
  /** Null if nothing was sent, or if it was not measured. */
  readonly timing: Timing | null
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
  /** Why it failed, as a sentence; null if it did not. */
  readonly reason: string | null
}

/** The types of a delivery's body. */
export const DELIVERY_TYPES = ["event.received", "ping"] as const
/** The type of a delivery's body. */
export type DeliveryType = (typeof DELIVERY_TYPES)[number]

/** `due`: to be sent, now or later; `failed`: a ping without a 2xx response, because pings are not retried. */
export type DeliveryState = (typeof DELIVERY_STATES)[number]
/** The states of a delivery. */
export const DELIVERY_STATES = ["due", "delivered", "failed", "cancelled"] as const

/** `refused`: a 4xx; `error`: any other status but a 2xx; `no_answer`: no response at all. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]
/** The outcomes of an attempt. */
export const DELIVERY_OUTCOMES = ["delivered", "refused", "error", "no_answer"] as const

/** The outcome of an attempt by its status. */
export const outcomeOf = ({ status }: Pick<Outcome, "status">): DeliveryOutcome => {
  if (status === null) return "no_answer"
  if (status >= 200 && status <= 299) return "delivered"
  return status >= 400 && status <= 499 ? "refused" : "error"
}

/** The last attempt of a delivery, in short. */
export interface LastAttempt {
  readonly at: string
  readonly number: number
  readonly outcome: DeliveryOutcome
  readonly status: number | null
  /** Why there was no response; else null. */
  readonly failure: string | null
  readonly durationMs: number
  /** The words in which the response explains a failure; empty without any. */
  readonly said: string
  /** Why it failed, as a sentence; null if it did not. */
  readonly reason: string | null
}

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
  /** Null before the first. */
  readonly lastAttempt: LastAttempt | null
}

const phase = (description: string) => Shape.orNull(Shape.whole(description))

const timingShape = Shape.named(
  "Timing",
  Shape.object<Timing>("Where the time of a request went, in milliseconds. Null: it did not have that phase.", {
    nameMs: phase("Looking up the host's name."),
    connectMs: phase("Connecting."),
    tlsMs: phase("The TLS handshake."),
    waitMs: phase("Sending the request, and waiting for the head of the response."),
    bodyMs: phase("Reading the body of the response."),
  }),
)

/** The members of a request's outcome as the APIs show them. */
export const outcomeMembers = {
  status: Shape.orNull(Shape.whole("The status of the response; null: there was none.")),
  failure: Shape.orNull(Shape.text("Why there was none; else null.")),
  peer: Shape.orNull(Shape.text("The address that was connected to.")),
  durationMs: Shape.whole("How long it took."),
  timing: Shape.eitherOrNull(timingShape, "Where that time went; null: nothing was sent, or it was not measured."),
  responseBody: Shape.orNull(Shape.text("The beginning of the response.")),
} satisfies Shape.Members<Outcome>

/** An attempt as the APIs show it. */
export const attemptShape = Shape.named(
  "Attempt",
  Shape.object<Attempt>("An attempt to deliver.", {
    deliveryId: Shape.id("The delivery's id.", 731),
    type: Shape.oneOf(DELIVERY_TYPES),
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
    reason: Shape.orNull(Shape.text("Why it failed, as a sentence; null if it did not.")),
  }),
)

const lastAttemptShape = Shape.named(
  "LastAttempt",
  Shape.object<LastAttempt>("The last attempt of a delivery.", {
    at: Shape.time("When it began."),
    number: Shape.whole("From 1."),
    outcome: Shape.oneOf(
      DELIVERY_OUTCOMES,
      "`refused`: a 4xx; `error`: any other status but a 2xx; `no_answer`: no response.",
    ),
    status: outcomeMembers.status,
    failure: outcomeMembers.failure,
    durationMs: outcomeMembers.durationMs,
    said: Shape.text("The words in which the response explains a failure; empty without any."),
    reason: Shape.orNull(Shape.text("Why it failed, as a sentence; null if it did not.")),
  }),
)

const members = {
  id: Shape.id("The delivery's id.", 731),
  type: Shape.oneOf(DELIVERY_TYPES),
  addressId: Shape.id("The address's id."),
  eventId: Shape.orNull(Shape.id("The event; null for a ping.", 10417)),
  state: Shape.oneOf(DELIVERY_STATES),
  attempts: Shape.whole("How many were begun."),
  createdAt: Shape.time("When it was created."),
  dueAt: Shape.orNull(Shape.time("When it is sent next; null unless it is due.")),
  lastAttempt: Shape.eitherOrNull(lastAttemptShape, "Its last attempt; null before the first."),
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
