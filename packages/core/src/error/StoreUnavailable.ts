/** The only error by which a port reports that the database is unavailable: the request is valid and can be sent again. */
import { Schema } from "effect"

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
