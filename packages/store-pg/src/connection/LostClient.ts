/**
 * How soon PostgreSQL lets go what a client of ours holds that is gone: locks, rows, and the fence of the feed. A machine
 * that loses its power or its network ends no connection, and a statement whose last bytes never arrive stays open: between
 * Execute and Sync neither `statement_timeout` nor `idle_in_transaction_session_timeout` runs. For a machine that is silent
 * see SessionSettings; this is what sessions that hold the fence have besides.
 */
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"

/** Longer than any statement may run: what is open after that waits for its client. Known to PostgreSQL 17 and later. */
const TRANSACTION_TIMEOUT = `
  SELECT set_config(name, '35000', false) FROM pg_settings WHERE name = 'transaction_timeout'`

/** A statement whose client has closed is given up, and not run to its end. Not every system's sockets can tell. */
const CHECK_INTERVAL = "SET client_connection_check_interval = 5000"

/** For sessions that hold the fence: bounds how long any of their transactions may be open. */
export const boundTransactions = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.andThen(
    connection.execute(TRANSACTION_TIMEOUT, [], undefined),
    Effect.ignore(connection.execute(CHECK_INTERVAL, [], undefined)),
  )
