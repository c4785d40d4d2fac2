/**
 * The queue of requests to write, and how they form batches: a batch is bounded, each request gets its own receipts, and
 * a failed batch is split.
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { Timer } from "@data-cabinet/core/runtime/TimerWheel"
import { type AcceptRequest, type Appended, type Receipt, SourceChanged } from "@data-cabinet/core/event/EventLog"
import { Result } from "effect"
import type { AcceptedRow } from "./AcceptStatement.ts"

/**
 * Each fingerprint of a batch takes a slot of PostgreSQL's lock table, so a batch is bounded by count as well as by
 * bytes.
 */
const BATCH_EVENTS = 200
const BATCH_BYTES = 4 * 1024 * 1024

/** This many requests are worth a second batch, provided they are at least as many as those of the batch in flight. */
const MIN_SIDE_BATCH = 24

interface Waiting {
  readonly request: AcceptRequest
  readonly deadline: Deadline
  /** Called when the deadline passes. */
  readonly expire: (pending: Pending) => void
  /** Releases its memory. */
  readonly release: () => void
  readonly resolve: (result: Appended) => void
  readonly reject: (fault: unknown) => void
}

/** A request that is queued or being written. Only its first result counts. */
export class Pending implements Timer {
  readonly request: AcceptRequest
  /** Approximate bytes that it takes in memory. */
  readonly bytes: number
  readonly deadline: Deadline
  readonly #waiting: Waiting
  /** Stops the watch on its deadline. */
  stopWatch: () => void = () => {}

  constructor(waiting: Waiting) {
    this.request = waiting.request
    this.bytes = waiting.request.memory ?? 0
    this.deadline = waiting.deadline
    this.#waiting = waiting
  }

  expire(): void {
    this.#waiting.expire(this)
  }

  end(result: Appended): void {
    this.#waiting.release()
    this.giveUp(result)
  }

  fault(fault: unknown): void {
    this.stopWatch()
    this.#waiting.release()
    this.#waiting.reject(fault)
  }

  /** Gives the caller a result. A request that is being written keeps its memory until the write ends. */
  giveUp(result: Appended): void {
    this.stopWatch()
    this.#waiting.resolve(result)
  }
}

export type PendingBatch = ReadonlyArray<Pending>

/** The queue from which batches are taken. */
export class PendingRequests {
  /** Not a Set: a Set keeps its removed entries alive (see core's LiveSet). */
  readonly #queue: Array<Pending> = []
  /** Totals over all requests in the queue. */
  #events = 0
  #bytes = 0

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** Whether the queue is worth a second batch alongside one of `requests` requests. */
  mayGoBeside(requests: number): boolean {
    if (this.#events >= BATCH_EVENTS || this.#bytes >= BATCH_BYTES) return true
    return this.#queue.length >= MIN_SIDE_BATCH && this.#queue.length >= requests
  }

  add(pending: Pending): void {
    this.#queue.push(pending)
    this.#events += pending.request.events.length
    this.#bytes += pending.bytes
  }

  /** Returns false if the request is no longer queued: it is being written, or already has its result. */
  remove(pending: Pending): boolean {
    const place = this.#queue.indexOf(pending)
    if (place === -1) return false
    this.#cut(place, 1)
    return true
  }

  /** Takes the next batch from the front: at least one request, whatever its size. */
  take(): PendingBatch {
    let count = 0
    let events = 0
    let bytes = 0
    for (const pending of this.#queue) {
      events += pending.request.events.length
      bytes += pending.bytes
      if (count > 0 && (events > BATCH_EVENTS || bytes > BATCH_BYTES)) break
      count++
    }
    return this.#cut(0, count)
  }

  takeAll(): PendingBatch {
    return this.#cut(0, this.#queue.length)
  }

  #cut(from: number, count: number): PendingBatch {
    const gone = this.#queue.splice(from, count)
    for (const pending of gone) {
      this.#events -= pending.request.events.length
      this.#bytes -= pending.bytes
    }
    return gone
  }
}

/**
 * Gives each request the receipts of its events. A request that lacks any was parsed for an outdated version of its
 * source.
 */
export const resolveAll = (batch: PendingBatch, rows: ReadonlyArray<AcceptedRow>): void => {
  let n = 0
  let at = 0
  for (const pending of batch) {
    const { request } = pending
    const receipts: Array<Receipt> = []
    for (const event of request.events) {
      n++
      const row = rows[at]
      if (row?.n !== n) continue
      at++
      const repeatOf = row.repeat_of === null ? null : Number(row.repeat_of)
      receipts.push({ id: Number(row.id), repeatOf, empty: event.empty })
    }
    const whole = receipts.length === request.events.length
    pending.end(whole ? Result.succeed(receipts) : Result.fail(new SourceChanged({ sourceId: request.sourceId })))
  }
}

/** Splits a batch by source if it has several sources, otherwise in the middle of its requests. */
export const halves = (batch: PendingBatch): ReadonlyArray<PendingBatch> => {
  const bySource = [...Map.groupBy(batch, ({ request }) => request.sourceId).values()]
  if (bySource.length > 1) return bySource
  return [batch.slice(0, batch.length >> 1), batch.slice(batch.length >> 1)]
}
