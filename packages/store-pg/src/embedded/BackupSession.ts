/**
 * The session that a backup runs in. PostgreSQL is notified when copying begins and when it is done, and keeps the log
 * in between, which makes files consistent that were copied while they were written. When the session ends for any
 * reason, the backup ends and the log is released.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import { connectionLossAsError, sqlMessage } from "../connection/StoreFailure.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

/** The replication slot keeps the log from before the start of the backup; it is dropped with the session. */
const KEEP_LOG = "SELECT slot_name::text FROM pg_create_physical_replication_slot($1, true, true)"

const START = `
SELECT pg_walfile_name(pg_backup_start('cabinet backup', true)) AS wal,
       to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS made_at`

const STOP = `SELECT pg_walfile_name(lsn) AS wal, labelfile AS label FROM pg_backup_stop(false)`

export interface BackupStart {
  /** RFC 3339. */
  readonly madeAt: string
}

export interface BackupStop {
  /** To be written among the copied files before any server is started on them. */
  readonly label: string
  /** The first and the last log file of the backup; the names of the others lie in between. */
  readonly firstLog: string
  readonly lastLog: string
}

const ask = <Row>(connection: SqlConnection.Connection, text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.map(connection.execute(text, values, undefined), (rows) => (rows as ReadonlyArray<Row>)[0]!)

/** Runs `copy` for the files, then `copyLog` while the log files are still kept. `url` is the superuser's. */
export const backupSession = <A, B>(
  url: string,
  copy: (start: BackupStart) => Effect.Effect<A, EmbeddedPostgresError>,
  copyLog: (stop: BackupStop, copied: A) => Effect.Effect<B, EmbeddedPostgresError>,
): Effect.Effect<B, EmbeddedPostgresError> =>
  Effect.gen(function* () {
    const connection = yield* (yield* PgClient.PgClient).reserve
    yield* ask(connection, KEEP_LOG, [`cabinet_backup_${process.pid}`])
    const start = yield* ask<{ wal: string; made_at: string }>(connection, START)
    const copied = yield* copy({ madeAt: start.made_at })
    const stop = yield* ask<{ wal: string; label: string }>(connection, STOP)
    return yield* copyLog({ label: stop.label, firstLog: start.wal, lastLog: stop.wal }, copied)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      SessionPool.layer({
        url,
        maxConnections: 1,
        applicationName: "data-cabinet backup",
        settings: unlimited,
      }),
    ),
    connectionLossAsError,
    Effect.catchTag("SqlError", (error: SqlError.SqlError) =>
      Effect.fail(
        new EmbeddedPostgresError({
          code: "backup_failed",
          message: `The database ended the backup: ${sqlMessage(error)}. Nothing was written; try again.`,
        }),
      ),
    ),
  )
