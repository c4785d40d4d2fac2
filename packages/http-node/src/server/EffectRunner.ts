/**
 * Runs routes whose work is an Effect. Each request gets a fiber under its own context. The fiber is interrupted when the
 * client disconnects or when the scope that owns the routes closes.
 */
import { Cause, Effect, Exit, Fiber, type Scope } from "effect"
import { LiveSet } from "@data-cabinet/core/runtime/LiveSet"
import { type Request, RequestGone } from "./Request.ts"

/** A fault rejects the promise with the thrown value, an interruption with RequestGone. */
export type RunEffect = <A>(request: Request, work: Effect.Effect<A>) => Promise<A>

export const effectRunner: Effect.Effect<RunEffect, never, Scope.Scope> = Effect.gen(function* () {
  const underWay = new LiveSet<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => {
    const fibers: Array<Fiber.Fiber<unknown>> = []
    underWay.forEach((fiber) => fibers.push(fiber))
    return Fiber.interruptAll(fibers)
  })
  return <A>(request: Request, work: Effect.Effect<A>) =>
    new Promise<A>((resolve, reject) => {
      const fiber = Effect.runForkWith(request.context)(work)
      const leave = underWay.add(fiber)
      const stop = request.onGone(() => fiber.interruptUnsafe())
      fiber.addObserver((exit) => {
        leave()
        stop()
        if (Exit.isSuccess(exit)) resolve(exit.value)
        else reject(Cause.hasInterruptsOnly(exit.cause) ? new RequestGone() : Cause.squash(exit.cause))
      })
    })
})
