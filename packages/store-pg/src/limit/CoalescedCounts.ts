/**
 * Coalesces concurrent counts into one statement: while one is in flight, requests that arrive are collected by subject
 * for the next. Without a timer, the first one is sent at once. Each caller still gets its own result: counts are
 * distributed in the order of the requests.
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import { type Timer, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect, Exit, Latch, Result, type Scope } from "effect"
import { unavailable } from "../connection/StoreFailure.ts"

/** A subject's window after the whole batch, and the milliseconds until it ends. */
export interface Counted {
  readonly count: number
  readonly left_ms: number
}

/** Counts each subject as often as it was requested and returns the results; a subject that is left out does not exist. */
export type CountBatch<A> = (
  requests: ReadonlyMap<string, number>,
) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<A>>, StoreUnavailable>

/** The windows of requests counted together, as each alone would have found it. */
export const distribute = <Row extends Counted>(row: Row, requests: number): ReadonlyArray<Row> =>
  Array.from({ length: requests }, (_, place) => ({ ...row, count: row.count - requests + place + 1 }))

const stopped = unavailable("The service is stopping.")

const late = unavailable("The database did not respond in time. Try again.")

type CountResult<A> = Result.Result<A | null, StoreUnavailable>

/** Counts one request of a subject, by the deadline; null if the subject does not exist. */
export type CountOne<A> = (subject: string, deadline: Deadline) => Promise<CountResult<A>>

/** A caller that waits for a count. Only its first result counts. */
class Waiting<A> implements Timer {
  readonly deadline: Deadline
  readonly #resolve: (result: CountResult<A>) => void
  readonly #reject: (fault: unknown) => void
  stopWatch: () => void = () => {}

  constructor(deadline: Deadline, resolve: (result: CountResult<A>) => void, reject: (fault: unknown) => void) {
    this.deadline = deadline
    this.#resolve = resolve
    this.#reject = reject
  }

  end(result: CountResult<A>): void {
    this.stopWatch()
    this.#resolve(result)
  }

  fail(fault: unknown): void {
    this.stopWatch()
    this.#reject(fault)
  }

  readonly expire = (): void => this.end(Result.fail(late))
}

export const coalescedCounts = <A>(count: CountBatch<A>): Effect.Effect<CountOne<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    let waiting = new Map<string, Array<Waiting<A>>>()
    const work = Latch.makeUnsafe(false)

    const deal = (fold: typeof waiting, exit: Exit.Exit<ReadonlyMap<string, ReadonlyArray<A>>, StoreUnavailable>) => {
      if (Exit.isFailure(exit)) return failAll(fold, exit.cause)
      for (const [subject, all] of fold) {
        const given = exit.value.get(subject)
        for (const [place, one] of all.entries()) one.end(Result.succeed(given?.[place] ?? null))
      }
    }

    const failAll = (fold: typeof waiting, cause: Cause.Cause<StoreUnavailable>) => {
      const failure = Cause.hasInterruptsOnly(cause)
        ? stopped
        : cause.reasons.find((reason) => reason._tag === "Fail")?.error
      for (const one of [...fold.values()].flat()) {
        if (failure === undefined) one.fail(Cause.squash(cause))
        else one.end(Result.fail(failure))
      }
    }

    const next = Effect.gen(function* () {
      yield* work.await
      work.closeUnsafe()
      const fold = waiting
      waiting = new Map()
      const requests = new Map(Array.from(fold, ([subject, all]) => [subject, all.length]))
      yield* count(requests).pipe(
        Effect.onExit((exit) => Effect.sync(() => deal(fold, exit))),
        Effect.exit,
      )
    })
    yield* Effect.forkScoped(Effect.forever(next))
    yield* Effect.addFinalizer(() => Effect.sync(() => failAll(waiting, Cause.fail(stopped))))

    return (subject, deadline) =>
      new Promise((resolve, reject) => {
        const one = new Waiting<A>(deadline, resolve, reject)
        one.stopWatch = wheel.watch(one)
        const same = waiting.get(subject)
        if (same === undefined) waiting.set(subject, [one])
        else same.push(one)
        work.openUnsafe()
      })
  })
