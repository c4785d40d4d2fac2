/** Runs routes whose work is an Effect: each request gets a fiber, which is interrupted when its call is aborted. */
import { Cause, Effect, Exit, type Scope } from "effect"
import { callRunner } from "./CallRunner.ts"
import { type Request, RequestGone } from "./Request.ts"

/** A fault rejects the promise with the thrown value, an interruption with RequestGone. */
export type RunEffect = <A>(request: Request, work: Effect.Effect<A>) => Promise<A>

export const effectRunner: Effect.Effect<RunEffect, never, Scope.Scope> = Effect.map(
  callRunner,
  (run) =>
    <A>(request: Request, work: Effect.Effect<A>) =>
      run(
        request,
        Number.POSITIVE_INFINITY,
        (call) =>
          new Promise<A>((resolve, reject) => {
            const fiber = Effect.runForkWith(call.context)(work)
            const stop = call.onAbort(() => fiber.interruptUnsafe())
            fiber.addObserver((exit) => {
              stop()
              if (Exit.isSuccess(exit)) resolve(exit.value)
              else reject(Cause.hasInterruptsOnly(exit.cause) ? new RequestGone() : Cause.squash(exit.cause))
            })
          }),
      ),
)
