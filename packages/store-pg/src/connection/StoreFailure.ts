/**
 * Maps driver errors to the two outcomes of a port: the database is unavailable (a typed error, to be retried), or the
 * program is wrong (a defect, with its cause kept for the log).
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Context, Effect, Fiber, Option } from "effect"
import { SqlError } from "effect/sql"
import { failureWords, storageWords } from "./FailureWords.ts"
import { lingering } from "./Uncancelled.ts"
import { sqlMessage, sqlState } from "./SqlState.ts"

export { sqlMessage, sqlState }

/** Seconds after which a caller should retry. */
const RETRY_AFTER_SECONDS = 2

/** Time limit of the statements of a request. */
const STORE_TIMEOUT = "8 seconds"

/** True if the session or the server is gone, starting, stopping, full or too slow; false if the statement is at fault. */
export const isUnavailable = (error: SqlError.SqlError): boolean => {
  // When a server refuses a login, no statement is at fault: none was sent yet.
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
 * True if the error was raised by code of the statement, for example a function behind a view: its SQLSTATE says
 * nothing about the session, the server or its limits. PostgreSQL reports those from files of its own only; a pooler,
 * which closes sessions too, names no file.
 */
export const isRaisedWithin = (error: SqlError.SqlError): boolean => {
  if (error.reason.operation === "connect" || sqlState(error) === undefined) return false
  const { cause } = error.reason
  const file = typeof cause === "object" && cause !== null && "file" in cause ? cause.file : undefined
  return typeof file === "string" && !SERVER_FILES.has(file)
}

/**
 * The source files in which PostgreSQL ends a statement or a session: cancels, time limits, shutdown and conflicts with
 * recovery; deadlocks; failed attempts to lock without waiting.
 */
const SERVER_FILES: ReadonlySet<string> = new Set(["postgres.c", "deadlock.c", "namespace.c", "lockcmds.c"])

/**
 * Two statements conflicted over the same rows or table, and PostgreSQL aborted ours: nothing was done, and it may be
 * retried.
 */
export const isConflict = (error: SqlError.SqlError): boolean =>
  ["40P01", "40001", "55P03"].includes(sqlState(error) ?? "")

export const unavailable = (message: string, outcomeUnknown = false): StoreUnavailable =>
  new StoreUnavailable({ message, retryAfter: RETRY_AFTER_SECONDS, outcomeUnknown })

/** For callers: why the database cannot be used, in words if they are known. */
export const unusable = (words: string | undefined): string =>
  words === undefined ? "The database cannot be reached." : `The database cannot be used: ${words}.`

/** The driver reports a connection lost inside a transaction as a defect; this turns it into the typed error. */
export const connectionLossAsError = <A, E, R>(
  self: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    for (const reason of cause.reasons) {
      if (reason._tag === "Die" && SqlError.isSqlError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })

/** What work waits for at the moment besides the database, in words; null: the database. */
export interface Awaited {
  place: string | null
}

/** That of the work of a port, while it is done; null outside of it. */
export const AwaitedPlace = Context.Reference<Awaited | null>(
  "@data-cabinet/store-pg/connection/StoreFailure/AwaitedPlace",
  { defaultValue: () => null },
)

/** Work of another place than the database: it is named if the deadline passes meanwhile. */
export const awaiting = <A, E, R>(place: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(AwaitedPlace, (awaited) => {
    if (awaited === null) return work
    const before = awaited.place
    awaited.place = place
    // Not if it is interrupted, which the deadline does.
    return Effect.tap(
      Effect.tapError(work, () => Effect.sync(() => (awaited.place = before))),
      () => Effect.sync(() => (awaited.place = before)),
    )
  })

/**
 * At its deadline the work is interrupted but not awaited: a commit that waits for a standby must not be cancelled, and
 * ends when it can.
 */
const withinTime = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.flatMap(AwaitedPlace, (outer) => {
    const awaited: Awaited = outer ?? { place: null }
    const late = Effect.suspend(() =>
      Effect.fail(unavailable(`${awaited.place ?? "The database"} did not respond in time.`)),
    )
    return Effect.flatMap(
      Effect.forkDetach(Effect.provideService(lingering(work), AwaitedPlace, awaited), { startImmediately: true }),
      (fiber) =>
        Effect.onExit(Effect.timeoutOrElse(Fiber.join(fiber), { duration: STORE_TIMEOUT, orElse: () => late }), () =>
          Effect.sync(() => fiber.interruptUnsafe()),
        ),
    )
  })

/**
 * Gives a port's effect its error type: unavailable or busy becomes `StoreUnavailable`, any other SQL error a defect.
 * Bounded in time.
 */
export const orUnavailable = <A, E, R>(
  self: Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | StoreUnavailable, R> =>
  withinTime(connectionLossAsError(self)).pipe(
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | StoreUnavailable> => {
      if (!SqlError.isSqlError(error)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
      if (isUnavailable(error) || storageWords(error) !== undefined) {
        return Effect.fail(unavailable(unusable(failureWords(error))))
      }
      return isConflict(error)
        ? Effect.fail(unavailable("The database is busy: another session holds a lock that this needs."))
        : Effect.die(error)
    }),
  )

/** The first row of a result, if it has one. */
export const firstRow = <Row, A>(
  rows: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>,
  as: (row: Row) => A,
): Effect.Effect<Option.Option<A>, StoreUnavailable> =>
  rows.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullishOr(row), as)),
    orUnavailable,
  )
