/**
 * One password at a time in a process, and ten that wait: a flood of them takes neither the memory nor the processors from
 * the intake. Of one client two may wait, so that a flood from few addresses leaves places to others.
 */
import { Context, Effect, Semaphore } from "effect"
import { type SignInError, tooManySignIns } from "./PersonError.ts"

const MAX_WAITING = 10
const MAX_WAITING_OF_CLIENT = 2
const RETRY_SECONDS = 5

export class PasswordQueue {
  readonly #turn = Semaphore.makeUnsafe(1)
  /** By client, those that wait and the one that is being computed. */
  readonly #waiting = new Map<string, number>()
  #total = 0

  run<A>(client: string, work: Effect.Effect<A>): Effect.Effect<A, SignInError> {
    return Effect.suspend(() => {
      const own = this.#waiting.get(client) ?? 0
      if (this.#total >= MAX_WAITING || own >= MAX_WAITING_OF_CLIENT) return Effect.fail(tooManySignIns(RETRY_SECONDS))
      this.#total++
      this.#waiting.set(client, own + 1)
      // A computation that has begun cannot be taken back, so its turn ends only with it.
      return Effect.ensuring(
        this.#turn.withPermits(1)(Effect.uninterruptible(work)),
        Effect.sync(() => this.#leave(client)),
      )
    })
  }

  #leave(client: string): void {
    this.#total--
    const left = (this.#waiting.get(client) ?? 1) - 1
    if (left === 0) this.#waiting.delete(client)
    else this.#waiting.set(client, left)
  }
}

/** That of this process, shared by all its cabinets. */
export const Passwords = Context.Reference<PasswordQueue>("@data-cabinet/core/person/Passwords", {
  defaultValue: () => new PasswordQueue(),
})
