/**
 * Waits that end by themselves. A race with a timer costs two more fibers for each wait, which for a short request is
 * more than its work; here one fiber looks over all waits a few times a second, and over none while there are none.
 */
import { type Context, Effect, type Exit, Latch, type Scope } from "effect"
import type { Answer, Ask } from "./Course.ts"
import { LiveSet } from "./LiveSet.ts"

/** Milliseconds between two looks. No wait is given up early, and none later than this after its time. */
const TICK_MILLIS = 250

/** A wait under way. */
export interface Timer {
  /** From here on the time does not count. */
  pause(): void
  /** From here on it counts again; what had passed before the pause is kept, rounded down to whole looks. */
  resume(): void
  /** All of its time starts over. */
  renew(): void
  /** It is over, one way or the other. */
  end(): void
}

export interface TimerWheel {
  /** Calls `giveUp`, once, when a wait has lasted `millis` milliseconds without its pauses. */
  readonly begin: (millis: number, giveUp: () => void) => Timer
  /** A question that is withdrawn where it is not answered in time. */
  readonly ask: <A, E>(millis: number, question: Withdrawable<A, E>) => Ask<A, E>
  /**
   * Work in a fiber of its own, or `late` when it has not ended in time. What was given up, by the time or by who asked, is
   * interrupted but not waited for: it may be at something that answers nothing any more.
   */
  readonly limit: <A, E>(millis: number, late: Effect.Effect<A, E>, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** A question that says how to withdraw it, and what stands for its answer then. */
export type Withdrawable<A, E> = (answer: Answer<A, E>) => () => Exit.Exit<A, E>

class CountedTimer implements Timer {
  readonly #waits: TimerState
  readonly #giveUp: () => void
  readonly #ticks: number
  #left: number
  #until = 0
  #leave: (() => void) | undefined

  constructor(waits: TimerState, looks: number, giveUp: () => void) {
    this.#waits = waits
    this.#ticks = looks
    this.#left = looks
    this.#giveUp = giveUp
    this.resume()
  }

  pause(): void {
    if (this.#leave === undefined) return
    this.end()
    this.#left = this.#until - this.#waits.ticks
  }

  resume(): void {
    this.#until = this.#waits.ticks + this.#left
    this.#leave ??= this.#waits.open.add(this)
    this.#waits.any.openUnsafe()
  }

  renew(): void {
    this.#left = this.#ticks
    this.#until = this.#waits.ticks + this.#ticks
  }

  end(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  tick(now: number): void {
    if (now < this.#until) return
    this.end()
    this.#giveUp()
  }
}

interface TimerState {
  /** Time, in looks. */
  ticks: number
  readonly open: LiveSet<CountedTimer>
  readonly any: Latch.Latch
}

/** Looks for as long as the scope is open. */
export const timerWheel: Effect.Effect<TimerWheel, never, Scope.Scope> = Effect.gen(function* () {
  const waits: TimerState = { ticks: 0, open: new LiveSet(), any: Latch.makeUnsafe(false) }
  // The first look after a wait began may come at once, so one more is counted than fit into its time.
  const begin: TimerWheel["begin"] = (millis, giveUp) =>
    new CountedTimer(waits, Math.ceil(millis / TICK_MILLIS) + 1, giveUp)
  const look = Effect.gen(function* () {
    if (waits.open.isEmpty) {
      waits.any.closeUnsafe()
      yield* waits.any.await
    }
    yield* Effect.sleep(TICK_MILLIS)
    waits.ticks++
    waits.open.forEach((wait) => wait.tick(waits.ticks))
  })
  yield* Effect.forkScoped(Effect.forever(look))
  return {
    begin,
    ask:
      <A, E>(millis: number, question: Withdrawable<A, E>): Ask<A, E> =>
      (answer) => {
        const wait = begin(millis, () => answer(withdraw()))
        const withdraw = question((given) => {
          wait.end()
          answer(given)
        })
        return () => {
          wait.end()
          withdraw()
        }
      },
    limit: <A, E>(millis: number, late: Effect.Effect<A, E>, work: Effect.Effect<A, E>) =>
      Effect.contextWith((context: Context.Context<never>) =>
        Effect.callback<A, E>((resume) => {
          const fiber = Effect.runForkWith(context)(work)
          const wait = begin(millis, () => {
            resume(late)
            fiber.interruptUnsafe()
          })
          fiber.addObserver((exit) => {
            wait.end()
            resume(exit)
          })
          return Effect.sync(() => {
            wait.end()
            fiber.interruptUnsafe()
          })
        }),
      ),
  }
})
