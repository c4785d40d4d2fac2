/**
 * How soon PostgreSQL releases the locks of a lost client of ours: locks, rows, and the fence of the feed. A machine
 * that loses its power or its network closes no connection, and a statement whose last bytes never arrive stays open:
 * between Execute and Sync neither `statement_timeout` nor `idle_in_transaction_session_timeout` runs. SessionSettings
 * covers a machine that has gone silent; this is the additional protection of sessions that hold the fence.
 */
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"

/**
 * Longer than any statement may run: a transaction open after that waits for its client. Known to PostgreSQL 17 and
 * later.
 */
const TRANSACTION_TIMEOUT = `
  SELECT set_config(name, '35000', false) FROM pg_settings WHERE name = 'transaction_timeout'`

/** Cancels a statement whose client has closed its connection. Not every system's sockets can detect that. */
const CHECK_INTERVAL = "SET client_connection_check_interval = 5000"

/** For sessions that hold the fence: bounds the duration of each of their transactions. */
export const boundTransactions = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.andThen(
    connection.execute(TRANSACTION_TIMEOUT, [], undefined),
    Effect.ignore(connection.execute(CHECK_INTERVAL, [], undefined)),
  )
