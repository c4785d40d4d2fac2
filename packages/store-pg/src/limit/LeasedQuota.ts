/**
 * Requests of the intake that are counted before they come. A subject with a large limit need not be counted one request
 * at a time: a process counts some ahead in the database, and deals those numbers without asking. They are a thousandth of
 * the limit at most, no more than have come in this minute already, and none from the window's middle on. So no more
 * requests pass than the limit allows; that fewer do takes a process that counted ahead and then has no more to count, and
 * they are a thousandth fewer. A limit below ten thousand is counted exactly.
 */
import type { Counted } from "./CoalescedCounts.ts"
import type { IntakeCount } from "./IntakeCounts.ts"

const SHARE = 1_000

/** Fewer are not worth a statement. */
const LEAST = 10

/** Past this many subjects all are forgotten, and counted again. */
const MOST_SUBJECTS = 100_000

/** Milliseconds by which the clocks of this machine and the database's may drift apart within a minute. */
export const CLOCKS_APART = 50

/** A subject, and how many of its requests to count ahead. */
export interface QuotaRequest {
  readonly subject: string
  readonly requests: number
}

interface Block {
  /** The number of the next request in its window, and the last one that may pass. */
  next: number
  readonly last: number
  /** The window ends after this moment, in milliseconds. */
  readonly until: number
}

export class LeasedQuota {
  readonly #limit: number
  readonly #blocks = new Map<string, Block>()
  readonly #asked = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The next number of each of the two that is not null; null where one of them has none left. */
  spend(client: string | null, source: string | null, now: number): IntakeCount | null {
    const ofClient = client === null ? null : this.#left(client, now)
    const ofSource = source === null ? null : this.#left(source, now)
    if (ofClient === undefined || ofSource === undefined) return null
    const number = (block: Block | null): Counted | null =>
      block === null ? null : { count: block.next++, left_ms: block.until - now }
    return { client: number(ofClient), source: number(ofSource) }
  }

  /** What to count ahead of the two now that they were counted; `give` follows, whatever comes of it. */
  wanted(client: string | null, source: string | null, counted: IntakeCount, now: number): ReadonlyArray<QuotaRequest> {
    return [...this.#wanted(client, counted.client, now), ...this.#wanted(source, counted.source, now)]
  }

  #wanted(subject: string | null, counted: Counted | null, now: number): ReadonlyArray<QuotaRequest> {
    if (subject === null || counted === null || this.#asked.has(subject)) return []
    const requests = Math.min(Math.floor(this.#limit / SHARE), counted.count)
    if (requests < LEAST || counted.count + requests > this.#limit / 2) return []
    // What is counted in a window's last second could not be dealt any more.
    if (counted.left_ms <= 1000 || this.#left(subject, now) !== undefined) return []
    this.#asked.add(subject)
    return [{ subject, requests }]
  }

  /** They were asked for at `asked`, and stand in these windows now; those of a subject without one were not counted. */
  give(ahead: ReadonlyArray<QuotaRequest>, windows: ReadonlyMap<string, Counted>, asked: number): void {
    if (this.#blocks.size > MOST_SUBJECTS) this.#blocks.clear()
    for (const { subject, requests } of ahead) {
      this.#asked.delete(subject)
      const window = windows.get(subject)
      if (window === undefined) continue
      // Counted from when it was asked: the answer is younger, and the two clocks may run a little apart.
      const until = asked + window.left_ms - CLOCKS_APART
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

  /** Forgets what is over. */
  forget(now: number): void {
    for (const [subject, { until }] of this.#blocks) if (now >= until) this.#blocks.delete(subject)
  }
}
