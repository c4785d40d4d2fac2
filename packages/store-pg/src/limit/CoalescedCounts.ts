/**
 * Counts asked for at the same time go to the database as one statement: while one is on its way, what comes meanwhile is
 * gathered for the next, by subject. There is no timer, the first goes at once. Every caller still gets an answer of its
 * own: what comes back is dealt out in the order of asking.
 */
import type { Answer } from "@data-cabinet/core/runtime/Course"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect, Exit, Latch, type Scope } from "effect"
import { unavailable } from "../connection/StoreFailure.ts"

/** A subject's window after the whole fold, and the milliseconds until it ends. */
export interface Counted {
  readonly count: number
  readonly left_ms: number
}

/** Counts each subject as often as it was asked for, and deals the answers; a subject that it leaves out does not exist. */
export type CountBatch<A> = (
  asked: ReadonlyMap<string, number>,
) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<A>>, StoreUnavailable>

/** The windows of those who were counted as one, as each of them by itself would have found it. */
export const distribute = <Row extends Counted>(row: Row, asked: number): ReadonlyArray<Row> =>
  Array.from({ length: asked }, (_, place) => ({ ...row, count: row.count - asked + place + 1 }))

const stopped = unavailable("The service is stopping.")

type AnswerCount<A> = Answer<A | null, StoreUnavailable>

/** Counts one request of a subject, and answers later; null when there is no such subject. */
export type AskCount<A> = (subject: string, answer: AnswerCount<A>) => void

export const coalescedCounts = <A>(count: CountBatch<A>): Effect.Effect<AskCount<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    let waiting = new Map<string, Array<AnswerCount<A>>>()
    const work = Latch.makeUnsafe(false)

    const deal = (fold: typeof waiting, exit: Exit.Exit<ReadonlyMap<string, ReadonlyArray<A>>, StoreUnavailable>) => {
      for (const [subject, answers] of fold) {
        if (Exit.isFailure(exit)) {
          const failed = Cause.hasInterruptsOnly(exit.cause) ? Exit.fail(stopped) : Exit.failCause(exit.cause)
          for (const answer of answers) answer(failed)
          continue
        }
        const given = exit.value.get(subject)
        for (const [place, answer] of answers.entries()) answer(Exit.succeed(given?.[place] ?? null))
      }
    }

    const next = Effect.gen(function* () {
      yield* work.await
      work.closeUnsafe()
      const fold = waiting
      waiting = new Map()
      const asked = new Map(Array.from(fold, ([subject, answers]) => [subject, answers.length]))
      yield* count(asked).pipe(
        Effect.onExit((exit) => Effect.sync(() => deal(fold, exit))),
        Effect.exit,
      )
    })
    yield* Effect.forkScoped(Effect.forever(next))
    yield* Effect.addFinalizer(() => Effect.sync(() => deal(waiting, Exit.fail(stopped))))

    return (subject, answer) => {
      const same = waiting.get(subject)
      if (same === undefined) waiting.set(subject, [answer])
      else same.push(answer)
      work.openUnsafe()
    }
  })
