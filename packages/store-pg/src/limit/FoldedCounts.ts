/**
 * Counts asked for at the same time go to the database as one statement: while one is on its way, what comes meanwhile is
 * gathered for the next, by subject. There is no timer, the first goes at once. Every caller still gets its own exact
 * number: the sum that comes back is dealt out in the order of asking.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect, Exit, Latch, type Scope } from "effect"
import { unavailable } from "../connection/StoreFailure.ts"

/** A subject's window after the whole fold; `retry_after` in seconds. */
export interface Counted {
  readonly count: number
  readonly retry_after: number
}

/** Adds to each subject what was asked; a subject that it does not answer does not exist. */
export type AddCounts<Row extends Counted> = (
  asked: ReadonlyMap<string, number>,
) => Effect.Effect<ReadonlyMap<string, Row>, StoreUnavailable>

const stopped = unavailable("The service is stopping.")

/** Counts one request of a subject; null when there is no such subject. */
export const foldedCounts = <Row extends Counted>(
  add: AddCounts<Row>,
): Effect.Effect<(subject: string) => Effect.Effect<Row | null, StoreUnavailable>, never, Scope.Scope> =>
  Effect.gen(function* () {
    type Answer = (answer: Effect.Effect<Row | null, StoreUnavailable>) => void
    let waiting = new Map<string, Array<Answer>>()
    const work = Latch.makeUnsafe(false)

    const deal = (fold: typeof waiting, exit: Exit.Exit<ReadonlyMap<string, Row>, StoreUnavailable>) => {
      for (const [subject, answers] of fold) {
        if (Exit.isFailure(exit)) {
          const failed = Cause.hasInterruptsOnly(exit.cause) ? Effect.fail(stopped) : Effect.failCause(exit.cause)
          for (const answer of answers) answer(failed)
          continue
        }
        const row = exit.value.get(subject)
        for (const [place, answer] of answers.entries()) {
          answer(Effect.succeed(row === undefined ? null : { ...row, count: row.count - answers.length + place + 1 }))
        }
      }
    }

    const next = Effect.gen(function* () {
      yield* work.await
      work.closeUnsafe()
      const fold = waiting
      waiting = new Map()
      const asked = new Map(Array.from(fold, ([subject, answers]) => [subject, answers.length]))
      yield* add(asked).pipe(
        Effect.onExit((exit) => Effect.sync(() => deal(fold, exit))),
        Effect.exit,
      )
    })
    yield* Effect.forkScoped(Effect.forever(next))
    yield* Effect.addFinalizer(() => Effect.sync(() => deal(waiting, Exit.fail(stopped))))

    return (subject) =>
      Effect.callback((resume) => {
        const same = waiting.get(subject)
        if (same === undefined) waiting.set(subject, [resume])
        else same.push(resume)
        work.openUnsafe()
      })
  })
