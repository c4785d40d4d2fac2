/** Says in the log why intake answers 503: the first of a cause and minute, for a sender's own word of it reaches nobody here. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Effect } from "effect"

const AGAIN_MILLIS = 60_000

/** What is to be run for each 503. The causes are sentences of ours, and few. */
export const tellUnavailable = () => {
  const told = new Map<string, number>()
  return (error: StoreUnavailable): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const before = told.get(error.message)
      if (before !== undefined && now - before < AGAIN_MILLIS) return Effect.void
      told.set(error.message, now)
      return Effect.logWarning(`intake answers 503: ${error.message}`)
    })
}
