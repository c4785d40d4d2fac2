/** Logs why intake responds with 503, once per cause and minute, because the operator does not see the response. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Context, Effect } from "effect"

const AGAIN_MILLIS = 60_000

/** Must be called for each 503. The causes are our own sentences, and few. */
export const unavailableLog = () => {
  const told = new Map<string, number>()
  return (error: StoreUnavailable, context: Context.Context<never>): void => {
    const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
    const before = told.get(error.message)
    if (before !== undefined && now - before < AGAIN_MILLIS) return
    told.set(error.message, now)
    Effect.runForkWith(context)(Effect.logWarning(`intake responds with 503: ${error.message}`))
  }
}
