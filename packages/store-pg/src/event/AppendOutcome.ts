/** The results of requests that were not written, and of those whose outcome is unknown. */
import type { Appended } from "@data-cabinet/core/event/EventLog"
import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { writeTrouble } from "../connection/FailureWords.ts"
import { unavailable } from "../connection/StoreFailure.ts"
import type { PendingBatch } from "./PendingRequests.ts"

/** A request withdrawn before it was sent is not saved and releases its memory. For any other the outcome is unknown. */
export const late = (withdrawn: boolean): Appended =>
  Result.fail(unavailable("The database did not respond in time.", !withdrawn))

/** Whether PostgreSQL refused the statement for lack of space or privileges: nothing of it was done. */
export const isRefused = (cause: Cause.Cause<SqlError.SqlError>): boolean => {
  const error = Cause.squash(cause)
  return SqlError.isSqlError(error) && writeTrouble(error) !== undefined
}

/** Ends the requests of a batch as failed. */
export const failAll = (batch: PendingBatch, outcomeUnknown: boolean): Effect.Effect<void> =>
  Effect.sync(() => {
    const message = outcomeUnknown
      ? "The connection was lost while the events were being written; it is not known whether they were."
      : "The database cannot be reached."
    for (const one of batch) one.end(Result.fail(unavailable(message, outcomeUnknown)))
  })
