/**
 * The requests that wait to be written, and how they go together: a batch is bounded, each request gets its own receipts
 * back, and a batch that failed is taken apart.
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { Timer } from "@data-cabinet/core/runtime/TimerWheel"
import { type AcceptRequest, type Appended, type Receipt, SourceChanged } from "@data-cabinet/core/event/EventLog"
import { Result } from "effect"
import type { AcceptedRow } from "./AcceptStatement.ts"

/** Each fingerprint of a batch takes a slot of PostgreSQL's lock table, so a batch is bounded by count, and by bytes. */
const BATCH_EVENTS = 200
const BATCH_BYTES = 4 * 1024 * 1024

/** So many requests are no small batch, if they are as many as those that they go beside. */
const MIN_SIDE_BATCH = 24

interface Waiting {
  readonly request: AcceptRequest
  readonly deadline: Deadline
  /** Called when the deadline has passed. */
  readonly expire: (pending: Pending) => void
  /** Gives its memory back. */
  readonly release: () => void
  readonly resolve: (result: Appended) => void
  readonly reject: (fault: unknown) => void
}

/** A request that waits to be written, or is being written. What comes after its first result counts for nothing. */
export class Pending implements Timer {
  readonly request: AcceptRequest
  /** About how many it takes in memory. */
  readonly bytes: number
  readonly deadline: Deadline
  readonly #waiting: Waiting
  /** No sweep looks at it any more. */
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

  /** Whoever waited has a result; while it is being written it holds its memory all the same. */
  giveUp(result: Appended): void {
    this.stopWatch()
    this.#waiting.resolve(result)
  }
}

export type PendingBatch = ReadonlyArray<Pending>

/** The queue that batches are taken from. */
export class PendingRequests {
  /** Not a Set, which would keep what has left it alive (see core's LiveSet). */
  readonly #queue: Array<Pending> = []
  /** Of all requests in it. */
  #events = 0
  #bytes = 0

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** Whether what waits is no small batch beside one of so many requests. */
  mayGoBeside(requests: number): boolean {
    if (this.#events >= BATCH_EVENTS || this.#bytes >= BATCH_BYTES) return true
    return this.#queue.length >= MIN_SIDE_BATCH && this.#queue.length >= requests
  }

  add(pending: Pending): void {
    this.#queue.push(pending)
    this.#events += pending.request.events.length
    this.#bytes += pending.bytes
  }

  /** False when it is in no queue any more: then it is being written, or was answered. */
  remove(pending: Pending): boolean {
    const place = this.#queue.indexOf(pending)
    if (place === -1) return false
    this.#cut(place, 1)
    return true
  }

  /** Takes the next batch off the front: one request at least, whatever its size. */
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

/** Gives each request the receipts of its events; one that lacks any was parsed for a source that is no more. */
export const answerAll = (batch: PendingBatch, rows: ReadonlyArray<AcceptedRow>): void => {
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

/** Parts a batch at its sources' borders if it has several, else in the middle of its requests. */
export const halves = (batch: PendingBatch): ReadonlyArray<PendingBatch> => {
  const bySource = [...Map.groupBy(batch, ({ request }) => request.sourceId).values()]
  if (bySource.length > 1) return bySource
  return [batch.slice(0, batch.length >> 1), batch.slice(batch.length >> 1)]
}
