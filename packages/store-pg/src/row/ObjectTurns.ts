/**
 * Turns to read: as many at once as there are connections, and of one object no more than a share of them. However many
 * ask for one slow view, the readers of other objects find a place free.
 */
import { type Duration, Effect, Semaphore } from "effect"

interface Turn {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

export interface TurnLimits {
  /** How many may be under way at once, and how many of one object. */
  readonly places: number
  readonly share: number
  /** How long one waits for its turn. */
  readonly patience: Duration.Input
}

export class ObjectTurns {
  readonly #limits: TurnLimits
  readonly #places: Semaphore.Semaphore
  readonly #turns = new Map<string, Turn>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
    this.#places = Semaphore.makeUnsafe(limits.places)
  }

  /** Runs `work` when it is this object's turn; fails with `late` when that takes longer than the patience. */
  take<A, E, R, L>(object: string, late: L, work: Effect.Effect<A, E, R>): Effect.Effect<A, E | L, R> {
    return Effect.uninterruptibleMask((restore) => {
      const turn = this.#enter(object)
      const within = (semaphore: Semaphore.Semaphore) => {
        const waiting = semaphore
          .take(1)
          .pipe(Effect.timeoutOrElse({ duration: this.#limits.patience, orElse: () => Effect.fail(late) }))
        // Most find their turn free, and need no clock.
        return Effect.flatMap(semaphore.takeIfAvailable(1), (had) => (had ? Effect.void : restore(waiting)))
      }
      const inPlace = Effect.flatMap(within(this.#places), () =>
        Effect.ensuring(restore(work), this.#places.release(1)),
      )
      return within(turn.semaphore).pipe(
        Effect.flatMap(() => Effect.ensuring(inPlace, turn.semaphore.release(1))),
        Effect.ensuring(Effect.sync(() => this.#leave(object, turn))),
      )
    })
  }

  #enter(object: string): Turn {
    const turn = this.#turns.get(object) ?? { semaphore: Semaphore.makeUnsafe(this.#limits.share), users: 0 }
    turn.users++
    this.#turns.set(object, turn)
    return turn
  }

  #leave(object: string, turn: Turn): void {
    turn.users--
    if (turn.users === 0) this.#turns.delete(object)
  }
}
