/**
 * Sorts what the driver reports into the two things a port may say: the database is away (a typed error, to be tried
 * again), or the program is wrong (a defect, with its cause kept for the log).
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { failureWords } from "./FailureWords.ts"
import { sqlMessage, sqlState } from "./SqlState.ts"

export { sqlMessage, sqlState }

/** How long a caller is told to wait before the next try, in seconds. */
const RETRY_AFTER = 2

/** No statement of a request may hold its caller longer. */
const STORE_TIMEOUT = "8 seconds"

/** True when the session or the server is gone, starting, stopping, full, or too slow; false when the statement is at fault. */
export const isUnavailable = (error: SqlError.SqlError): boolean => {
  // Whatever a server says to a login, nothing was wrong with a statement: there was none yet.
  if (error.reason.operation === "connect") return true
  const state = sqlState(error)
  if (state === undefined) return error.reason._tag === "ConnectionError" || error.reason._tag === "AuthenticationError"
  return (
    state.startsWith("08") || // connection exception
    state.startsWith("57P") || // shutting down, starting, database dropped
    state.startsWith("53") || // out of connections, memory or disk
    state.startsWith("28") || // the login is refused
    state === "3D000" || // the database does not exist
    state === "57014" || // statement timeout
    state === "58030" || // the disk cannot be read or written
    state === "25006" // a standby: it cannot be written to
  )
}

/**
 * True when a statement's own code, a function behind a view for example, raised the error: whatever SQLSTATE it chose, it
 * says nothing of the session, the server or its limits. Of these PostgreSQL speaks from files of its own only; a pooler, which
 * ends sessions too, names none.
 */
export const isRaisedWithin = (error: SqlError.SqlError): boolean => {
  if (error.reason.operation === "connect" || sqlState(error) === undefined) return false
  const { cause } = error.reason
  const file = typeof cause === "object" && cause !== null && "file" in cause ? cause.file : undefined
  return typeof file === "string" && !SERVER_FILES.has(file)
}

/**
 * Where PostgreSQL ends a statement or a session that it will not let go on: cancels, time limits, shutdown and conflicts
 * with recovery; deadlocks; locks that are not waited for.
 */
const SERVER_FILES: ReadonlySet<string> = new Set(["postgres.c", "deadlock.c", "namespace.c", "lockcmds.c"])

/** Two statements met over the same rows or table, and PostgreSQL ended ours: nothing was done, and it may be run again. */
export const isConflict = (error: SqlError.SqlError): boolean =>
  ["40P01", "40001", "55P03"].includes(sqlState(error) ?? "")

export const unavailable = (message: string, outcomeUnknown = false): StoreUnavailable =>
  new StoreUnavailable({ message, retryAfter: RETRY_AFTER, outcomeUnknown })

/** A connection lost inside a transaction comes as a defect from the driver: makes it the typed error it is. */
export const connectionLossAsError = <A, E, R>(
  self: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    for (const reason of cause.reasons) {
      if (reason._tag === "Die" && SqlError.isSqlError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })

/** Gives a port's effect its error type: away or busy → `StoreUnavailable`, anything else of SQL → a defect. Bounded in time. */
export const orUnavailable = <A, E, R>(
  self: Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | StoreUnavailable, R> =>
  connectionLossAsError(self).pipe(
    Effect.timeout(STORE_TIMEOUT),
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | StoreUnavailable> => {
      if (Cause.isTimeoutError(error)) return Effect.fail(unavailable("The database did not answer in time."))
      if (!SqlError.isSqlError(error)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
      if (isUnavailable(error)) {
        const words = failureWords(error)
        return Effect.fail(
          unavailable(
            words === undefined ? "The database cannot be reached." : `The database cannot be used: ${words}.`,
          ),
        )
      }
      return isConflict(error)
        ? Effect.fail(unavailable("The database is busy: somebody else holds what this needs."))
        : Effect.die(error)
    }),
  )
