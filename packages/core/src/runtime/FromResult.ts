/**
 * Converts between the two styles of asynchronous calls: `Promise<Result>` on the path of every intake request, where a
 * fiber for each would cost more than the work, and Effects everywhere else. An error is a value in both; a rejected
 * promise is a fault.
 */
import { Cause, type Context, Effect, Exit, Result } from "effect"
import type { AbortableCall } from "./AbortableCall.ts"

/** Wraps the call in an Effect; an interruption aborts its signal. */
export const fromResult = <A, E>(call: (signal: AbortSignal) => Promise<Result.Result<A, E>>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.promise(call), Effect.fromResult)

/** Runs an Effect and returns its result. If a call is given, aborting it interrupts the Effect. */
export const runResult = <A, E>(
  work: Effect.Effect<A, E>,
  context: Context.Context<never>,
  call?: AbortableCall,
): Promise<Result.Result<A, E>> =>
  new Promise((resolve, reject) => {
    const fiber = Effect.runForkWith(context)(work)
    const stopListening = call?.onAbort(() => fiber.interruptUnsafe())
    fiber.addObserver((exit) => {
      stopListening?.()
      if (Exit.isSuccess(exit)) return resolve(Result.succeed(exit.value))
      const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")
      if (failure !== undefined) resolve(Result.fail(failure.error))
      else reject(Cause.squash(exit.cause))
    })
  })
