/**
 * Between the two ways in which work is asked for: `Promise<Result>` on the path of every request of the intake, where a
 * fiber for each would cost more than the work, and Effects everywhere else. An error is a value in both; a promise that is
 * rejected is a fault.
 */
import { Cause, type Context, Effect, Exit, Result } from "effect"

/** The call as an Effect; its signal is aborted when that is interrupted. */
export const fromResult = <A, E>(call: (signal: AbortSignal) => Promise<Result.Result<A, E>>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.promise(call), Effect.fromResult)

/** Runs an Effect for its result. */
export const runResult = <A, E>(
  work: Effect.Effect<A, E>,
  context: Context.Context<never>,
): Promise<Result.Result<A, E>> =>
  new Promise((resolve, reject) => {
    Effect.runForkWith(context)(work).addObserver((exit) => {
      if (Exit.isSuccess(exit)) return resolve(Result.succeed(exit.value))
      const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")
      if (failure !== undefined) resolve(Result.fail(failure.error))
      else reject(Cause.squash(exit.cause))
    })
  })
