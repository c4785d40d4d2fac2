/** Opens the session of a writer of events, and prepares everything that its first event depends on. */
import { Effect, type Scope } from "effect"
import type { SqlError, SqlConnection } from "effect/sql"
import type { WriteSession, WriteSessions } from "../connection/WriteSession.ts"
import type { BatchWriter } from "./BatchWriter.ts"
import type { BlockedBatches } from "./BlockedBatches.ts"
import { BODY_SECRET, bodyKeys } from "./BodyLocks.ts"

/**
 * Longer than any statement may run: a transaction open after that waits for its client. Known to PostgreSQL 17 and
 * later.
 */
const TRANSACTION_TIMEOUT = `
  SELECT set_config(name, '35000', false) FROM pg_settings WHERE name = 'transaction_timeout'`

/** Cancels a statement whose client has closed its connection. Not every system's sockets can detect that. */
const CHECK_INTERVAL = "SET client_connection_check_interval = 5000"

/**
 * Bounds the duration of each transaction of a session that holds the fence of the feed, so that PostgreSQL soon releases what
 * a lost client of ours locked. A machine that loses its power or its network closes no connection, and a statement whose
 * last bytes never arrive stays open: between Execute and Sync neither `statement_timeout` nor
 * `idle_in_transaction_session_timeout` runs. `SessionSettings` covers a machine that has gone silent.
 */
export const boundTransactions = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.andThen(
    connection.execute(TRANSACTION_TIMEOUT, [], undefined),
    Effect.ignore(connection.execute(CHECK_INTERVAL, [], undefined)),
  )

/** How long a batch waits for a locked table. After that its rows are deferred; its events are not. */
const LOCK_TIMEOUT_MILLIS = 1_000

/** Checks the epoch of the feed, which may begin a new one, and returns what a writer needs. */
const OPEN_WRITER = `SELECT cabinet.check_epoch(), ${BODY_SECRET} AS secret, pg_backend_pid() AS pid`

interface OpenedWriter {
  readonly secret: string
  readonly pid: number
}

interface Parts {
  readonly sessions: WriteSessions["Service"]
  readonly batches: BatchWriter
  readonly blocked: BlockedBatches
}

/** Checks the epoch of the feed before the first event. `closed` is called when the session has ended. */
export const openWriter = (
  { sessions, batches, blocked }: Parts,
  closed: () => void,
): Effect.Effect<WriteSession, SqlError.SqlError, Scope.Scope> =>
  Effect.suspend(() => {
    let pid = 0
    return sessions.open(
      Effect.fnUntraced(function* (connection) {
        yield* connection.execute(`SET lock_timeout = ${LOCK_TIMEOUT_MILLIS}`, [], undefined)
        yield* boundTransactions(connection)
        const [opened] = (yield* connection.execute(OPEN_WRITER, [], undefined)) as ReadonlyArray<OpenedWriter>
        batches.keysOf = bodyKeys(opened!.secret)
        pid = opened!.pid
        blocked.writers.add(pid)
      }),
      () => {
        blocked.writers.delete(pid)
        closed()
      },
    )
  })
