/**
 * Distributes the counts of a batch of intake requests to its callers. Each request counts for its client and, if the
 * client is within its limit, for its source; COUNT_SENDERS adds them up by the same rule.
 */
import type { Counted } from "./CoalescedCounts.ts"

/** Requests of one client to one source; null for a side that is not counted. */
export interface SenderPair {
  readonly client: string | null
  readonly source: string | null
  readonly requests: number
}

/** The result for one request; `source` is also null if its client is over its limit. */
export interface IntakeCount {
  readonly client: Counted | null
  readonly source: Counted | null
}

/** Returns one by one the numbers of a subject's window that end with the count after the batch. */
class Numbers {
  readonly #windows: ReadonlyMap<string, Counted>
  readonly #left = new Map<string, number>()

  constructor(windows: ReadonlyMap<string, Counted>) {
    this.#windows = windows
  }

  expect(subject: string | null, count: number): void {
    if (subject !== null) this.#left.set(subject, (this.#left.get(subject) ?? 0) + count)
  }

  next(subject: string | null): Counted | null {
    const window = subject === null ? undefined : this.#windows.get(subject)
    if (subject === null || window === undefined) return null
    const left = this.#left.get(subject) ?? 0
    this.#left.set(subject, left - 1)
    return { ...window, count: window.count - left + 1 }
  }
}

/** One result per request, batch by batch in the order of `senders`. */
export const distributeSenders = (
  senders: ReadonlyArray<SenderPair>,
  windows: ReadonlyMap<string, Counted>,
  limit: number,
): ReadonlyArray<ReadonlyArray<IntakeCount>> => {
  const numbers = new Numbers(windows)
  for (const { client, requests } of senders) numbers.expect(client, requests)
  const clients = senders.map(({ client, requests }) => Array.from({ length: requests }, () => numbers.next(client)))
  const passes = (client: Counted | null) => client === null || client.count <= limit
  for (const [index, { source }] of senders.entries()) numbers.expect(source, clients[index]!.filter(passes).length)
  return senders.map(({ source }, index) =>
    clients[index]!.map((client) => ({ client, source: passes(client) ? numbers.next(source) : null })),
  )
}
