/** Says in the log why intake answers 503: the first of a cause and minute, for a sender's own word of it reaches nobody here. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Context, Effect } from "effect"

const AGAIN_MILLIS = 60_000

/** To be called for each 503. The causes are sentences of ours, and few. */
export const tellUnavailable = () => {
  const told = new Map<string, number>()
  return (error: StoreUnavailable, context: Context.Context<never>): void => {
    const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
    const before = told.get(error.message)
    if (before !== undefined && now - before < AGAIN_MILLIS) return
    told.set(error.message, now)
    Effect.runForkWith(context)(Effect.logWarning(`intake answers 503: ${error.message}`))
  }
}
