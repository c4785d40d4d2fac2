/**
 * Ends sessions of the login for reports that could hold up the cabinet. Time limits that a session sets for itself bind
 * nobody, and neither does one that it can switch off, so the owner looks.
 *
 * A long read alone delays no event: it keeps a new column from being added to the table that it reads, whose rows then
 * follow later, and dead rows from being removed. Advisory locks fill a table that all sessions share, and a session that
 * listens can fill the queue of notifications, by which the cabinet's processes wake one another.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectionLossAsError } from "../connection/StoreFailure.ts"

interface Bounds {
  /** How long a transaction of a report may last, and how long it may wait for its client meanwhile. */
  readonly transactionSeconds: number
  readonly idleSeconds: number
  /** How full the queue of notifications may become, of 1, before the sessions that could have filled it are ended. */
  readonly queueUsage: number
}

const BOUNDS: Bounds = { transactionSeconds: 900, idleSeconds: 60, queueUsage: 0.05 }

const ago = (parameter: number) => `clock_timestamp() - $${parameter}::float8 * interval '1 second'`

const END = `
WITH found AS MATERIALIZED (
  SELECT a.pid, coalesce(a.application_name, '') AS application, CASE
    WHEN EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory') THEN 'it took advisory locks'
    WHEN a.state LIKE 'idle in transaction%' AND a.state_change < ${ago(1)}
      THEN 'it left a transaction open without a query'
    WHEN a.xact_start < ${ago(2)} THEN 'its transaction lasted too long'
    WHEN pg_notification_queue_usage() > $3::float8 THEN 'the queue of notifications was filling up'
    END AS why
  FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.usename LIKE 'cabinet\\_%\\_reports' AND pg_has_role(a.usesysid, 'USAGE')
)
SELECT pid, application, why, pg_terminate_backend(pid) AS ended FROM found WHERE why IS NOT NULL`

interface Ended {
  readonly pid: number
  readonly application: string
  readonly why: string
  readonly ended: boolean
}

export const endReportSessions = (bounds: Partial<Bounds> = {}) => {
  const { transactionSeconds, idleSeconds, queueUsage } = { ...BOUNDS, ...bounds }
  const parameters = [idleSeconds, transactionSeconds, queueUsage]
  const work = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    for (const { pid, application, why, ended } of yield* sql.unsafe<Ended>(END, parameters)) {
      const outcome = ended ? "was ended" : "cannot be ended"
      yield* Effect.logWarning(`A session for reports (process ${pid}, ${application}) ${outcome}: ${why}`)
    }
  })
  return connectionLossAsError(work)
}
