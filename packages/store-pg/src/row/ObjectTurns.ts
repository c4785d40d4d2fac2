/**
 * Turns by object: however many ask for one slow view, they hold no more than their share of the places, and the readers
 * of other objects find one free.
 */
import { type Duration, Effect, Semaphore } from "effect"

interface Turn {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

export class ObjectTurns {
  readonly #share: number
  readonly #turns = new Map<string, Turn>()

  /** `share`: how many of one object may be under way at once. */
  constructor(share: number) {
    this.#share = share
  }

  /** Runs `work` when it is this object's turn; fails with `late` when that takes longer than `patience`. */
  take<A, E, R, L>(
    object: string,
    { patience, late }: { readonly patience: Duration.Input; readonly late: L },
    work: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | L, R> {
    return Effect.uninterruptibleMask((restore) => {
      const turn = this.#enter(object)
      const waited = restore(
        turn.semaphore.take(1).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(late) })),
      )
      return waited.pipe(
        Effect.flatMap(() => Effect.ensuring(restore(work), turn.semaphore.release(1))),
        Effect.ensuring(Effect.sync(() => this.#leave(object, turn))),
      )
    })
  }

  #enter(object: string): Turn {
    const turn = this.#turns.get(object) ?? { semaphore: Semaphore.makeUnsafe(this.#share), users: 0 }
    turn.users++
    this.#turns.set(object, turn)
    return turn
  }

  #leave(object: string, turn: Turn): void {
    turn.users--
    if (turn.users === 0) this.#turns.delete(object)
  }
}
