/** The only error by which a port reports that the database is unavailable: the request is valid and can be sent again. */
import { Schema, Effect } from "effect"

/**
 * The database cannot be reached, or did not respond in time.
 *
 * `retryAfter` is in whole seconds. If `outcomeUnknown` is true, the connection was lost while a commit was in flight:
 * the work may have been done, so no code may retry it blindly on the caller's behalf.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  message: Schema.String,
  retryAfter: Schema.Int,
  outcomeUnknown: Schema.Boolean,
}) {}

/** The store did not respond by the deadline; `outcomeUnknown` if a write had been sent to it. */
export const storeTimedOut = (outcomeUnknown: boolean): StoreUnavailable =>
  new StoreUnavailable({ message: "The database did not respond in time", retryAfter: 5, outcomeUnknown })

/** The most waits in a row. */
const MAX_WAITS = 5
const MAX_WAIT_SECONDS = 60

/**
 * Requests the next page of a long walk, and waits while it is unavailable: a page refused because the database is
 * away, or by a rate limit, is requested again at the time that the refusal names.
 */
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
