/**
 * How long a sender waits for the store: one allowance for all that a request asks of it, however many steps that takes. The
 * time in which the body arrives is the sender's own and has its limits in `BodyLimits`.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect } from "effect"

/** Gives each step of one request what the steps before it have left, and fails with `late` when that is used up. */
export const storePatience = (millis: number) => {
  let left = millis
  return <A, E>(step: Effect.Effect<A, E>, late: StoreUnavailable): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.clockWith((clock) => {
      const began = clock.currentTimeMillisUnsafe()
      return Effect.map(Effect.timeoutOrElse(step, { duration: left, orElse: () => Effect.fail(late) }), (done) => {
        left = Math.max(0, left - (clock.currentTimeMillisUnsafe() - began))
        return done
      })
    })
}
