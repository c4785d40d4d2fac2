/**
 * Requests the next page of a long walk, and waits while it is unavailable: a page refused because the database is
 * away, or by a rate limit, is requested again at the time that the refusal names.
 */
import { Effect } from "effect"
import { StoreUnavailable } from "./StoreUnavailable.ts"

/** The most waits in a row. */
const MAX_WAITS = 5
const MAX_WAIT_SECONDS = 60

export const whenAvailable = <A, E, R>(read: Effect.Effect<A, E, R>, waits = MAX_WAITS): Effect.Effect<A, E, R> =>
  read.pipe(
    Effect.catch((error) => {
      if (!(error instanceof StoreUnavailable) || waits === 0) return Effect.fail(error)
      const seconds = Math.min(Math.max(error.retryAfter, 1), MAX_WAIT_SECONDS)
      return Effect.andThen(
        Effect.sleep(`${seconds} seconds`),
        Effect.suspend(() => whenAvailable(read, waits - 1)),
      )
    }),
  )
