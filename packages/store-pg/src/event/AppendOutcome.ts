/** The results of requests that were not written, and of those whose outcome is unknown. */
import type { Appended } from "@data-cabinet/core/event/EventLog"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { failureWords, writeTrouble } from "../connection/FailureWords.ts"
import { unavailable, unusable } from "../connection/StoreFailure.ts"
import type { PendingBatch } from "./PendingRequests.ts"

/** A request withdrawn before it was sent is not saved and releases its memory. For any other the outcome is unknown. */
export const late = (withdrawn: boolean): Appended =>
  Result.fail(unavailable("The database did not respond in time.", !withdrawn))

/**
 * Why PostgreSQL refused the statement, for example because of a full disk: nothing of it was done. Undefined for any
 * other failure.
 */
export const refusalOf = (cause: Cause.Cause<SqlError.SqlError>): string | undefined => {
  const error = Cause.squash(cause)
  return SqlError.isSqlError(error) ? writeTrouble(error) : undefined
}

/** Why no session could be opened; undefined if the reason is unknown. */
export const connectFailureOf = (cause: Cause.Cause<SqlError.SqlError>): string | undefined => {
  const error = Cause.squash(cause)
  return SqlError.isSqlError(error) ? failureWords(error) : undefined
}

const UNKNOWN = "The connection was lost while the events were being written; it is not known whether they were."

/** Ends the requests of a batch as failed: nothing of it was written, for this reason if one is known. */
export const failAll = (batch: PendingBatch, reason?: string): Effect.Effect<void> =>
  endAll(batch, unavailable(unusable(reason)))

/** Ends the requests of a batch whose statement was sent, and never answered. */
export const loseAll = (batch: PendingBatch): Effect.Effect<void> => endAll(batch, unavailable(UNKNOWN, true))

const endAll = (batch: PendingBatch, error: StoreUnavailable) =>
  Effect.sync(() => {
    for (const one of batch) one.end(Result.fail(error))
  })
