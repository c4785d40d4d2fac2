/** The one way a port says that the database is away: nothing is wrong with the request, and it may be sent again. */
import { Schema } from "effect"

/**
 * The database cannot be reached, or did not answer in time.
 *
 * `retryAfter` is in whole seconds. When `outcomeUnknown` is true the connection was lost while a commit was under way:
 * the work may have been done, so nobody may repeat it blindly on the caller's behalf.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  message: Schema.String,
  retryAfter: Schema.Int,
  outcomeUnknown: Schema.Boolean,
}) {}

/** The store did not answer by the deadline; `outcomeUnknown` once it was asked to write. */
export const storeTimedOut = (outcomeUnknown: boolean): StoreUnavailable =>
  new StoreUnavailable({ message: "The database did not answer in time", retryAfter: 5, outcomeUnknown })
