/**
 * Computes one password at a time in a process, and lets few callers wait: a flood of sign-ins takes neither memory nor
 * CPU time from intake. Groups take turns, so that a flood at one cabinet delays the sign-ins of another by one
 * computation each.
 */
import { Context, Effect } from "effect"
import { FairTurns } from "../limit/FairTurns.ts"
import { type SignInError, tooManySignIns } from "./PersonError.ts"

/** The most waiting callers per client, per group and in total. One group cannot use up the queue. */
const LIMITS = { ofClient: 2, ofGroup: 10, total: 40 } as const
const RETRY_SECONDS = 5

export class PasswordQueue {
  readonly #turns = new FairTurns(LIMITS)

  /** A computation that has begun cannot be stopped, so its turn lasts until it ends. */
  run<A>(group: symbol, client: string, work: Effect.Effect<A>): Effect.Effect<A, SignInError> {
    return this.#turns.run(group, client, Effect.uninterruptible(work), tooManySignIns(RETRY_SECONDS))
  }
}

/** The queue of this process, shared by all its cabinets. */
export const Passwords = Context.Reference<PasswordQueue>("@data-cabinet/core/person/Passwords", {
  defaultValue: () => new PasswordQueue(),
})
