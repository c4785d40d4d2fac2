/**
 * Timeouts without a timer for each. Racing a timer costs two more fibers per wait, which for a short request is more
 * than its work; here one fiber checks all timeouts a few times a second, and sleeps without timeouts. The object that
 * waits holds its deadline as a value, and may change it.
 */
import { Clock, type Context, Effect, Latch, type Scope } from "effect"
import { type Deadline, monotonicMillis } from "./Deadline.ts"
import { LiveSet } from "./LiveSet.ts"

/** Milliseconds between two sweeps. No timeout fires early, and none later than this after its deadline. */
const TICK_MILLIS = 250

/** A wait with a deadline. */
export interface Timer {
  readonly deadline: Deadline
  /** Called once when the deadline has passed; the timer is no longer watched by then. Must not throw. */
  readonly expire: () => void
}

export interface TimerWheel {
  readonly now: () => Deadline
  /** Watches this timer until the returned function is called. */
  readonly watch: (timer: Timer) => () => void
  /**
   * Runs work in its own fiber; `late` if it has not ended in time. Work that is abandoned, because of the timeout or
   * by the caller, is interrupted but not awaited: it may be waiting for something that no longer responds.
   */
  readonly limit: <A, E>(millis: number, late: Effect.Effect<A, E>, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** Sweeps for as long as the scope is open. */
export const timerWheel: Effect.Effect<TimerWheel, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const watched = new LiveSet<Timer>()
  const any = Latch.makeUnsafe(false)
  const sweep = Effect.gen(function* () {
    if (watched.isEmpty) {
      any.closeUnsafe()
      yield* any.await
    }
    yield* Effect.sleep(TICK_MILLIS)
    const now = monotonicMillis(clock)
    const over: Array<Timer> = []
    watched.removeIf((timer) => timer.deadline <= now && over.push(timer) > 0)
    for (const timer of over) timer.expire()
  })
  yield* Effect.forkScoped(Effect.forever(sweep))
  const now = () => monotonicMillis(clock)
  const watch: TimerWheel["watch"] = (timer) => {
    any.openUnsafe()
    return watched.add(timer)
  }
  return {
    now,
    watch,
    limit: <A, E>(millis: number, late: Effect.Effect<A, E>, work: Effect.Effect<A, E>) =>
      Effect.contextWith((context: Context.Context<never>) =>
        Effect.callback<A, E>((resume) => {
          const fiber = Effect.runForkWith(context)(work)
          const stop = watch({
            deadline: now() + millis,
            expire: () => {
              resume(late)
              fiber.interruptUnsafe()
            },
          })
          fiber.addObserver((exit) => {
            stop()
            resume(exit)
          })
          return Effect.sync(() => {
            stop()
            fiber.interruptUnsafe()
          })
        }),
      ),
  }
})
