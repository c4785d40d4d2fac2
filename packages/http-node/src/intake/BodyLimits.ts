/** The limits of a body: its size, the time to read it, and the time that its sender then waits for the store. */
import { Context } from "effect"

export interface Limits {
  /** The most bytes of a body, both as received and after decoding. */
  readonly maxBytes: number
  /** The longest pause between two bytes, in milliseconds. */
  readonly idle: number
  /** The longest time for a whole body, in milliseconds. */
  readonly total: number
  /** The most bytes that all unfinished bodies may hold in total; a sender that would exceed it is asked to retry. */
  readonly buffered: number
  /** Milliseconds that a sender waits for the store in total. */
  readonly store: number
}

/** The limits in force: those of the contract, unless the composition of the server provides others. */
export const BodyLimits = Context.Reference<Limits>("@data-cabinet/http-node/intake/BodyLimits", {
  defaultValue: () => ({ maxBytes: 1_048_576, idle: 15_000, total: 60_000, buffered: 256 * 1_048_576, store: 9_000 }),
})

/** The bytes held by the bodies being read. */
export interface BodyBudget {
  held: number
}

/** The budget of this process, shared by the requests of all its cabinets. */
export const HeldBodies = Context.Reference<BodyBudget>("@data-cabinet/http-node/intake/HeldBodies", {
  defaultValue: () => ({ held: 0 }),
})
