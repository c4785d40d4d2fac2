/**
 * Limits the memory of submissions waiting for parsing and for the database. All cabinets of a process share one
 * budget. No source and no client address can use all of it: a source may hold as much as it leaves free, and an
 * address half of that. So there is room for others, however many clients fill it. A client over its share must retry.
 *
 * Decision: docs/decisions/0025-waiting-work-is-bounded-by-memory.md
 */
import { Context } from "effect"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { rateSubject } from "./RateSubject.ts"

/** The budget of a process, unless it has less memory. */
export const MAX_WAITING_BYTES = 256 * 1_048_576

/**
 * Submissions up to this size are not counted: their connection takes as much memory, and counting would cost every small
 * request.
 */
export const SMALL_BYTES = 16_384

/** Returns the bytes to the budget; repeated calls have no further effect. */
export type Release = () => void

export class MemoryBudget {
  readonly limit: number
  #held = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get free(): number {
    return Math.max(0, this.limit - this.#held)
  }

  get isUnused(): boolean {
    return this.#held === 0
  }

  add(bytes: number): void {
    this.#held += bytes
  }
}

/** The shares of the budget that one kind of work of one cabinet holds. */
export class MemoryShares {
  readonly #budget: MemoryBudget
  readonly #bySource = new Map<number, number>()
  readonly #byClient = new Map<string, number>()

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** Returns undefined if there is currently no room. A submission that waits alone always has room. */
  hold(sourceId: number, ip: string | null, bytes: number): Release | undefined {
    const budget = this.#budget
    const client = ip === null ? undefined : rateSubject(ip)
    const ofSource = this.#bySource.get(sourceId) ?? 0
    const ofClient = client === undefined ? 0 : (this.#byClient.get(client) ?? 0)
    const { free } = budget
    const fits =
      bytes <= free && (ofSource === 0 || ofSource + bytes <= free) && (ofClient === 0 || ofClient + bytes <= free / 2)
    if (!fits && !budget.isUnused) return undefined
    budget.add(bytes)
    count(this.#bySource, sourceId, bytes)
    if (client !== undefined) count(this.#byClient, client, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      budget.add(-bytes)
      count(this.#bySource, sourceId, -bytes)
      if (client !== undefined) count(this.#byClient, client, -bytes)
    }
  }
}

const count = <A>(counts: Map<A, number>, of: A, bytes: number): void => {
  const held = (counts.get(of) ?? 0) + bytes
  if (held === 0) counts.delete(of)
  else counts.set(of, held)
}

/** The error for a submission without room in the budget. */
export const memoryFull = (): StoreUnavailable =>
  new StoreUnavailable({
    message: "Too much received data is waiting to be processed; nothing was saved",
    retryAfter: 5,
    outcomeUnknown: false,
  })

/** The budget of this process; the composition of a cabinet makes it smaller if there is less memory. */
export const Memory = Context.Reference<MemoryBudget>("@data-cabinet/core/limit/MemoryBudget", {
  defaultValue: () => new MemoryBudget(MAX_WAITING_BYTES),
})
