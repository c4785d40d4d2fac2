/**
 * One check shared by all callers at about the same time: any client may check readiness as often as it likes, and
 * each check puts load on the database. No caller waits longer than the time limit, even if the check hangs: an
 * unresponsive database ends no statement, so a check that is too slow is abandoned, and the next caller starts a new
 * one.
 */
import { Effect, Exit } from "effect"

export interface SharedCheckOptions<A> {
  readonly check: Effect.Effect<A>
  /** How long a result is valid. */
  readonly cacheMillis: number
  /** How long a check may take, and the result if it takes longer. */
  readonly timeoutMillis: number
  readonly late: A
}

export const sharedCheck = <A>({
  check,
  cacheMillis,
  timeoutMillis,
  late,
}: SharedCheckOptions<A>): Effect.Effect<Effect.Effect<A>> =>
  Effect.sync(() => {
    let found: { readonly result: A; readonly until: number } | undefined
    let waiting: Array<(result: A) => void> = []
    let isRunning = false

    const begin = Effect.suspend(() => {
      isRunning = true
      let isOver = false
      const end = (result: A) => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        found = { result, until: performance.now() + cacheMillis }
        isRunning = false
        const all = waiting
        waiting = []
        for (const tell of all) tell(result)
      }
      const timer = setTimeout(() => end(late), timeoutMillis)
      return Effect.forkDetach(
        Effect.onExit(check, (exit) => Effect.sync(() => end(Exit.isSuccess(exit) ? exit.value : late))),
        { startImmediately: true },
      )
    })

    return Effect.suspend(() => {
      if (found !== undefined && performance.now() < found.until) return Effect.succeed(found.result)
      const result = Effect.callback<A>((resume) => {
        const tell = (given: A) => resume(Effect.succeed(given))
        waiting.push(tell)
        return Effect.sync(() => void (waiting = waiting.filter((other) => other !== tell)))
      })
      if (isRunning) return result
      // A check that completes synchronously has notified all waiters before this caller could wait.
      return Effect.andThen(
        begin,
        Effect.suspend(() => (isRunning ? result : Effect.succeed(found!.result))),
      )
    })
  })
