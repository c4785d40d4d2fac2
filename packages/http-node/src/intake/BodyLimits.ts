/** How much of a body is read, and for how long, and how long its sender may wait for the store after that. */
import { Context } from "effect"

export interface Limits {
  /** The most bytes of one body, as received and again after its content encoding was undone. */
  readonly maxBytes: number
  /** Milliseconds without a byte after which a sender is given up. */
  readonly idle: number
  /** Milliseconds that a whole body may take. */
  readonly total: number
  /** The most bytes that all unfinished bodies together may hold; whoever would pass it is asked to retry. */
  readonly buffered: number
  /** Milliseconds that a sender waits for the store in all. */
  readonly store: number
}

/** The limits in force: those of the contract, unless whoever composes the server provides others. */
export const BodyLimits = Context.Reference<Limits>("@data-cabinet/http-node/intake/BodyLimits", {
  defaultValue: () => ({ maxBytes: 1_048_576, idle: 15_000, total: 60_000, buffered: 256 * 1_048_576, store: 9_000 }),
})

/** The bytes held by the bodies that are being read. */
export interface BodyBudget {
  held: number
}

/** The one of this process, for the requests of all its cabinets. */
export const HeldBodies = Context.Reference<BodyBudget>("@data-cabinet/http-node/intake/HeldBodies", {
  defaultValue: () => ({ held: 0 }),
})
