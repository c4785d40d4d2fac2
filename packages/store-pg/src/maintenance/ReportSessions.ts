/**
 * Ends sessions of the login for reports that could hold up the cabinet. The owner enforces this, because a session
 * could switch off its own time limits.
 *
 * A long read alone delays no event: it only keeps a new column from being added to the table that it reads, whose rows
 * then follow later, and dead rows from being removed. Advisory locks, however, fill a table shared by all sessions. A
 * listening session can fill the queue of notifications, by which the cabinet's processes wake one another.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectionLossAsError } from "../connection/StoreFailure.ts"

interface Bounds {
  /** How long a transaction of a report may last, and how long it may wait for its client. */
  readonly transactionSeconds: number
  readonly idleSeconds: number
  /** How full the notification queue may become, from 0 to 1, before sessions that could have filled it are ended. */
  readonly queueUsage: number
}

const BOUNDS: Bounds = { transactionSeconds: 900, idleSeconds: 60, queueUsage: 0.05 }

const ago = (parameter: number) => `clock_timestamp() - $${parameter}::float8 * interval '1 second'`

const END = `
WITH found AS MATERIALIZED (
  SELECT a.pid, coalesce(a.application_name, '') AS application, a.backend_start::text AS since, CASE
    WHEN EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory') THEN 'it took advisory locks'
    WHEN a.state LIKE 'idle in transaction%' AND a.state_change < ${ago(1)}
      THEN 'it left a transaction open without a query'
    WHEN a.xact_start < ${ago(2)} THEN 'its transaction lasted too long'
    WHEN pg_notification_queue_usage() > $3::float8 THEN 'the queue of notifications was filling up'
    END AS why
  FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.usename LIKE 'cabinet\\_%\\_reports' AND pg_has_role(a.usesysid, 'USAGE')
)
SELECT pid, application, since, why, pg_terminate_backend(pid) AS asked FROM found WHERE why IS NOT NULL`

interface ReportSession {
  readonly pid: number
  readonly application: string
  /** When the session began, because its process id may belong to another session by the next check. */
  readonly since: string
  readonly why: string
  readonly asked: boolean
}

/**
 * Returns the periodic check. A session that is still there after its termination runs code that ignores interrupts.
 * This is logged once, and the session keeps one of its role's few connections.
 */
export const endReportSessions = (bounds: Partial<Bounds> = {}) => {
  const { transactionSeconds, idleSeconds, queueUsage } = { ...BOUNDS, ...bounds }
  const parameters = [idleSeconds, transactionSeconds, queueUsage]
  let asked = new Map<string, number>()
  const work = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const found = yield* sql.unsafe<ReportSession>(END, parameters)
    const now = new Map<string, number>()
    for (const one of found) {
      const key = `${one.pid} ${one.since}`
      const times = asked.get(key) ?? 0
      now.set(key, times + 1)
      if (times < 2) yield* Effect.logWarning(wordsOf(one, times === 1))
    }
    asked = now
  })
  return connectionLossAsError(work)
}

const wordsOf = ({ pid, application, why, asked }: ReportSession, isAgain: boolean): string => {
  const who = `A session for reports (process ${pid}, ${application})`
  if (!asked) return `${who} cannot be ended: ${why}`
  return isAgain ? `${who} runs on although PostgreSQL was asked to end it: ${why}` : `${who} was asked to end: ${why}`
}
