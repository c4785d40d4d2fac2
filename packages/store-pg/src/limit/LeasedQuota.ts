/**
 * Counts intake requests before they arrive. A subject with a large limit need not be counted one request at a time: a
 * process counts some in advance in the database, and spends those numbers without a query. A lease is at most a
 * thousandth of the limit, no more than the requests of this minute so far, and nothing is leased from the middle of the window on.
 * So no more requests pass than the limit allows. Fewer pass only if a process leases numbers and then gets no more
 * requests, and then only a thousandth fewer. A limit below ten thousand is counted exactly.
 *
 * Decision: docs/decisions/0022-leased-quotas.md
 */
import type { Counted } from "./CoalescedCounts.ts"
import type { IntakeCount } from "./IntakeCounts.ts"

const LEASE_DIVISOR = 1_000

/** Fewer are not worth a statement. */
const MIN_LEASE = 10

/** Above this many subjects all leases are discarded, and counted again. */
const MAX_SUBJECTS = 100_000

/** Milliseconds by which this machine's clock and the database's may drift apart within a minute. */
export const MAX_CLOCK_SKEW_MILLIS = 50

/** A subject, and how many of its requests to count in advance. */
export interface QuotaRequest {
  readonly subject: string
  readonly requests: number
}

interface Block {
  /** The number of the next request in its window, and the last one that may pass. */
  next: number
  readonly last: number
  /** The window ends after this time, in milliseconds. */
  readonly until: number
}

export class LeasedQuota {
  readonly #limit: number
  readonly #blocks = new Map<string, Block>()
  readonly #requested = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Spends the next number of each side that is not null; null if either has none left. */
  spend(client: string | null, source: string | null, now: number): IntakeCount | null {
    const ofClient = client === null ? null : this.#left(client, now)
    const ofSource = source === null ? null : this.#left(source, now)
    if (ofClient === undefined || ofSource === undefined) return null
    const number = (block: Block | null): Counted | null =>
      block === null ? null : { count: block.next++, left_ms: block.until - now }
    return { client: number(ofClient), source: number(ofSource) }
  }

  /** The leases to request for both sides after a count; `give` must follow, whatever the outcome. */
  wanted(client: string | null, source: string | null, counted: IntakeCount, now: number): ReadonlyArray<QuotaRequest> {
    return [...this.#wanted(client, counted.client, now), ...this.#wanted(source, counted.source, now)]
  }

  #wanted(subject: string | null, counted: Counted | null, now: number): ReadonlyArray<QuotaRequest> {
    if (subject === null || counted === null || this.#requested.has(subject)) return []
    const requests = Math.min(Math.floor(this.#limit / LEASE_DIVISOR), counted.count)
    if (requests < MIN_LEASE || counted.count + requests > this.#limit / 2) return []
    // Numbers counted in the last second of a window could not be spent any more.
    if (counted.left_ms <= 1000 || this.#left(subject, now) !== undefined) return []
    this.#requested.add(subject)
    return [{ subject, requests }]
  }

  /**
   * The leases were requested at `requestedAt` and are now counted in these windows; a subject without a window was not
   * counted.
   */
  give(ahead: ReadonlyArray<QuotaRequest>, windows: ReadonlyMap<string, Counted>, requestedAt: number): void {
    if (this.#blocks.size > MAX_SUBJECTS) this.#blocks.clear()
    for (const { subject, requests } of ahead) {
      this.#requested.delete(subject)
      const window = windows.get(subject)
      if (window === undefined) continue
      // Measured from the request, because the result is younger, and the two clocks may drift apart a little.
      const until = requestedAt + window.left_ms - MAX_CLOCK_SKEW_MILLIS
      this.#blocks.set(subject, {
        next: window.count - requests + 1,
        last: Math.min(window.count, this.#limit),
        until,
      })
    }
  }

  #left(subject: string, now: number): Block | undefined {
    const block = this.#blocks.get(subject)
    return block !== undefined && block.next <= block.last && now < block.until ? block : undefined
  }

  /** Discards expired leases. */
  forget(now: number): void {
    for (const [subject, { until }] of this.#blocks) if (now >= until) this.#blocks.delete(subject)
  }
}
