/**
 * Runs the work of a request without a fiber, as a call that is aborted when the client disconnects or when the scope that
 * owns the routes closes. The scope closes once the work of all aborted calls has ended.
 *
 * Decision: docs/decisions/0048-no-fiber-for-keyed-requests.md
 */
import { type AbortableCall, OwnCall } from "@data-cabinet/core/runtime/AbortableCall"
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import { LiveSet } from "@data-cabinet/core/runtime/LiveSet"
import { Effect, type Scope } from "effect"
import { type Request, RequestGone } from "./Request.ts"

/** A fault rejects the promise with the thrown value; the work of a call that was aborted rejects it with RequestGone. */
export type RunCall = <A>(request: Request, deadline: Deadline, work: (call: AbortableCall) => Promise<A>) => Promise<A>

export const callRunner: Effect.Effect<RunCall, never, Scope.Scope> = Effect.gen(function* () {
  const inFlight = new LiveSet<OwnCall>()
  let ended: (() => void) | undefined
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      ended = () => resume(Effect.void)
      inFlight.forEach((call) => call.abort())
      if (inFlight.isEmpty) ended()
    }),
  )
  return async <A>(request: Request, deadline: Deadline, work: (call: AbortableCall) => Promise<A>): Promise<A> => {
    const call = new OwnCall(deadline, request.context)
    const leave = inFlight.add(call)
    const stop = request.onGone(() => call.abort())
    try {
      const result = await work(call)
      if (call.isAborted) throw new RequestGone()
      return result
    } catch (fault) {
      throw call.isAborted ? new RequestGone() : fault
    } finally {
      stop()
      leave()
      if (inFlight.isEmpty) ended?.()
    }
  }
})
