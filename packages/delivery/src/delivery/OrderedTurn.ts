/** One turn of an address in order: its events are sent one after another, until the turn is over or one fails. */
import { occurrenceBody } from "@data-cabinet/core/agent/Occurrence"
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import type { AgentMessage, AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import type { Parcel } from "@data-cabinet/core/delivery/Letter"
import type { AgentRecipient } from "@data-cabinet/core/delivery/DeliveryQueue"
import type {
  OrderedAttempt,
  OrderedItem,
  OrderedPage,
  OrderedProgress,
  OrderedQueue,
} from "@data-cabinet/core/delivery/OrderedQueue"
import { agentRetrySeconds, retryAfterSeconds } from "@data-cabinet/core/delivery/RetrySchedule"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { writeCursor } from "@data-cabinet/core/feed/FeedParams"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { actUntil } from "@data-cabinet/core/follower/FollowerLease"
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import type { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { type Clock, Effect } from "effect"
import { countOutcome } from "./AttemptMetrics.ts"

export interface Parts {
  readonly queue: OrderedQueue["Service"]
  readonly deliver: AttemptDelivery["Service"]
  readonly keys: CursorKeys["Service"]
  readonly leaseMillis: number
  /** The longest attempt. */
  readonly attemptMillis: number
}

/** How often a position is saved while deliveries succeed. */
const SAVE_MILLIS = 50

/** After this long an address gives others their turn. */
export const TURN_MILLIS = 2_000

/** How often a batch that waits for more events is looked at. */
const BATCH_CHECK_MILLIS = 1_000

/** The most bytes of events in one request, unless its first alone has more. */
const BATCH_BYTES = 1_048_576

/** How long a process that shuts down waits for its position to be saved. */
export const LAST_SAVE = "2 seconds"

const isDelivered = ({ status }: Outcome): boolean => status !== null && status >= 200 && status <= 299

/** The items of the next request, from `from` on. */
export const nextBatch = (items: ReadonlyArray<OrderedItem>, from: number, max: number): ReadonlyArray<OrderedItem> => {
  let bytes = 0
  let to = from
  while (to < items.length && to - from < max) {
    bytes += items[to]!.event.json.length
    if (to > from && bytes > BATCH_BYTES) break
    to++
  }
  return items.slice(from, to)
}

const parcelOf = (batch: ReadonlyArray<OrderedItem>, max: number): Parcel => ({
  items: batch.map(({ deliveryId: id, createdAt, event }) => ({ id, type: "event.received", createdAt, event })),
  isBatch: max > 1,
})

/** What an agent's subscription is sent: one event, which has the same number however often it comes. */
const occurrenceOf = (item: OrderedItem, agent: AgentRecipient, key: CursorKey): AgentMessage => {
  const { eventId, createdAt, event, place } = item
  const cursor = writeCursor(key, { sourceId: agent.sourceId, channel: null }, place)
  const body = occurrenceBody({ eventId, name: agent.event, timestamp: createdAt, json: event.json, cursor })
  return { id: String(eventId), subscription: agent.subscription, body }
}

/** The agent wants this event never again: it is gone for it, or too long. */
const isGivenUp = ({ status }: Outcome): boolean => status === 410 || status === 413

/** How a page ended. */
type PageEnd = { readonly is: "more" } | { readonly is: "rest"; readonly millis: number } | { readonly is: "over" }

/** What one claim has done and not saved yet. */
export class Turn {
  readonly held: HeldFollower
  readonly #parts: Parts
  readonly #slot: { since: number }
  readonly #clock: Clock.Clock
  #place: FeedPlace | null = null
  #filtered = 0
  /** Delivered since the last line of the log. */
  #events = 0
  #last: { readonly item: OrderedItem; readonly outcome: Outcome; readonly number: number } | null = null
  #lineSince = 0
  readonly #lines: Array<OrderedAttempt & { readonly at: number }> = []
  #savedAt: number
  #actUntil: number

  constructor(held: HeldFollower, parts: Parts, slot: { since: number }, clock: Clock.Clock) {
    this.held = held
    this.#parts = parts
    this.#slot = slot
    this.#clock = clock
    this.#savedAt = slot.since
    this.#actUntil = actUntil(slot.since, parts.leaseMillis, parts.attemptMillis)
  }

  get now(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  /** Sends what the page has. */
  page(page: OrderedPage, isClosing: () => boolean): Effect.Effect<PageEnd, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      let at = 0
      while (at < page.items.length) {
        if (isClosing()) return { is: "rest", millis: 0 } as const
        const batch = nextBatch(page.items, at, page.batch.max)
        const isLast = at + batch.length === page.items.length && batch.length < page.batch.max
        if (isLast && page.hasMore && at > 0) return { is: "more" } as const
        const wait = isLast && !page.hasMore ? this.#batchWait(batch[0]!, page.batch.wait) : 0
        if (wait > 0) return { is: "rest", millis: Math.min(wait, BATCH_CHECK_MILLIS) } as const
        if (!(yield* this.#mayAct())) return { is: "over" } as const
        if (!(yield* this.#send(page, batch, at === 0 ? page.failures : 0))) return { is: "over" } as const
        at += batch.length
        // An agent whose key is revoked gets no further event of the page.
        const isSaved = page.recipient.agent !== undefined || this.now - this.#savedAt >= SAVE_MILLIS
        if (isSaved && !(yield* this.save({ is: "keep" }))) return { is: "over" } as const
      }
      this.#place = page.end ?? this.#place
      this.#filtered += page.filtered
      this.#endLine()
      return page.hasMore ? ({ is: "more" } as const) : ({ is: "rest", millis: REST_MILLIS } as const)
    })
  }

  /** Saves what is done; false if the lease is lost. */
  save(next: OrderedProgress["next"]): Effect.Effect<boolean, StoreUnavailable> {
    return Effect.suspend(() => {
      if (next.is !== "keep") this.#endLine()
      const now = this.now
      const lines = this.#lines.splice(0).map(({ at, ...line }) => ({ ...line, agoMillis: now - at }))
      const progress: OrderedProgress = { place: this.#place, lines, filtered: this.#filtered, next }
      this.#place = null
      this.#filtered = 0
      return Effect.map(this.#parts.queue.record(this.held, progress, this.#parts.leaseMillis), (isHeld) => {
        this.#savedAt = now
        this.#actUntil = actUntil(now, this.#parts.leaseMillis, this.#parts.attemptMillis)
        return isHeld
      })
    })
  }

  #batchWait({ createdAt }: OrderedItem, seconds: number): number {
    return seconds === 0 ? 0 : Date.parse(createdAt) + seconds * 1000 - this.now
  }

  /** Whether the lease holds for another attempt, after it was renewed if necessary. */
  #mayAct(): Effect.Effect<boolean, StoreUnavailable> {
    return Effect.suspend(() => (this.now < this.#actUntil ? Effect.succeed(true) : this.save({ is: "keep" })))
  }

  /** One request; false if it failed, and the address waits. */
  #send(page: OrderedPage, batch: ReadonlyArray<OrderedItem>, failures: number) {
    return Effect.gen({ self: this }, function* () {
      const started = this.now
      this.#slot.since = started
      const last = batch.at(-1)!
      const { agent } = page.recipient
      const outcome =
        agent === undefined
          ? yield* this.#parts.deliver.send(page.recipient, parcelOf(batch, page.batch.max))
          : yield* this.#parts.deliver.notify(page.recipient, occurrenceOf(last, agent, yield* this.#parts.keys.key))
      yield* countOutcome(outcome)
      const number = failures + 1
      if (isDelivered(outcome)) {
        if (this.#events === 0) this.#lineSince = started
        this.#place = last.place
        this.#events += batch.length
        this.#last = { item: last, outcome, number }
        // The log of an event that had failed has the attempt that delivered it.
        if (failures > 0) this.#endLine()
        if (page.rate !== null) yield* Effect.sleep(Math.max(0, started + 1000 / page.rate - this.now))
        return true
      }
      this.#endLine()
      const { deliveryId, eventId, createdAt } = batch[0]!
      const line = { deliveryId, eventId, createdAt, events: batch.length, number, delivered: false, outcome }
      this.#lines.push({ ...line, agoMillis: 0, at: started })
      if (agent !== undefined && isGivenUp(outcome)) {
        this.#place = last.place
        return true
      }
      const seconds = agent === undefined ? retryAfterSeconds(number) : agentRetrySeconds(number)
      const error = outcome.failure ?? `responded with ${outcome.status}`
      yield* this.save({ is: "fail", afterMillis: seconds * 1000, error })
      return false
    })
  }

  #endLine(): void {
    if (this.#last === null) return
    const { item, outcome, number } = this.#last
    const { deliveryId, eventId, createdAt } = item
    this.#lines.push({
      deliveryId,
      eventId,
      createdAt,
      number,
      outcome,
      delivered: true,
      events: this.#events,
      agoMillis: 0,
      at: this.#lineSince,
    })
    this.#last = null
    this.#events = 0
  }
}

/** An address rests this long after its last event: what arrives meanwhile comes with one page. */
export const REST_MILLIS = 50
