/**
 * Logs which sessions block the accepting of events, at most once per session and minute. A sender that gets a 503
 * cannot know, and the operator would have to look at that very moment.
 *
 * A foreign session that holds one of the locks of equal bodies is terminated: it can read a key while we hold it, but
 * has no use for it. If it cannot be terminated (a superuser's session, a prepared transaction) or returns, accepts do
 * without the lock.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import { int4Array } from "../connection/Parameter.ts"

/** $1: the process ids of the writers. A prepared transaction has no process: it is reported as 0. */
const BLOCKERS = `
SELECT DISTINCT blocking.pid, b.usename::text AS login, coalesce(b.application_name, '') AS application, b.state,
       cabinet.rfc3339(b.xact_start) AS since,
       CASE w.locktype WHEN 'relation' THEN 'a lock on ' || w.relation::regclass WHEN 'advisory' THEN 'the lock of a body'
         ELSE 'a row' END AS holds,
       w.locktype = 'advisory' AND b.usesysid IS DISTINCT FROM a.usesysid AS strange,
       coalesce(pg_has_role(b.usesysid, 'USAGE'), false) AS may_end
FROM pg_stat_activity a
  JOIN pg_locks w ON w.pid = a.pid AND NOT w.granted
  CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS blocking(pid)
  LEFT JOIN pg_stat_activity b ON b.pid = blocking.pid
WHERE a.pid = ANY ($1::int4[])`

interface Blocker {
  readonly pid: number
  readonly login: string | null
  readonly application: string
  readonly state: string | null
  readonly since: string | null
  readonly holds: string
  readonly strange: boolean
  readonly may_end: boolean
}

const AGAIN_MILLIS = 60_000

const nameOf = ({ pid, login, application, state }: Blocker): string =>
  pid === 0 ? "a prepared transaction" : `process ${pid} (${login ?? "unknown"}, ${application}, ${state ?? "unknown"})`

/**
 * Returns the check to run while a batch is held up. It takes the process ids of the writers' sessions and returns
 * whether a foreign session holds the lock of a body.
 */
export const blockers = (sql: PgClient.PgClient) => {
  const told = new Map<number, number>()
  return Effect.fnUntraced(function* (writers: Iterable<number>) {
    const now = yield* Clock.currentTimeMillis
    for (const [pid, at] of told) if (now - at >= AGAIN_MILLIS) told.delete(pid)
    const found = yield* sql.unsafe<Blocker>(BLOCKERS, [int4Array([...writers])])
    for (const blocker of found) {
      const { pid, since, holds, strange, may_end } = blocker
      const ends = strange && may_end
      if (ends) yield* sql.unsafe("SELECT pg_terminate_backend($1)", [pid])
      if (told.has(pid)) continue
      told.set(pid, now)
      yield* Effect.logWarning(
        `accepting events waits for ${nameOf(blocker)}, which holds ${holds}, in a transaction since ${since ?? "unknown"}${ends ? ": asked it to end" : ""}`,
      )
    }
    return found.some(({ strange }) => strange)
  })
}
