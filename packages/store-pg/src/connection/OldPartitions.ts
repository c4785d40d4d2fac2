/**
 * Drops old daily partitions. With a plain DROP, every insert would wait for a long read of the table; `DETACH …
 * CONCURRENTLY` waits without holding any lock that an insert needs, and the detached partition is then dropped.
 *
 * One process at a time does this, and the others skip it. If a run is interrupted by its time limit or the end of its
 * process, the next one completes it: PostgreSQL marks half-detached partitions, and detached ones not yet dropped are
 * recognized by their name.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import { orUnavailable } from "./StoreFailure.ts"

/** The tables with daily partitions that are dropped by age. */
export type DailyTable = "original_request" | "attempt_delivered" | "attempt_failed" | "audit"

/** Readers that take longer than this are left to the next run. */
const DETACH_LIMIT = "20s"

/** $1: the partitioned table, $2: days. Lists partitions that are older as a whole, half-detached ones first. */
const OLD = `
  SELECT c.relname AS name, i.inhdetachpending AS pending
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = $1::text::regclass
    AND (i.inhdetachpending OR to_date(right(c.relname, 8), 'YYYYMMDD') + 1
      <= ((cabinet.now() - make_interval(days => $2::int)) AT TIME ZONE 'UTC')::date)
  ORDER BY i.inhdetachpending DESC, c.relname`

/** $1: the table. Lists its detached partitions that are not yet dropped. */
const DETACHED = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = 'cabinet'::regnamespace AND c.relkind = 'r' AND c.relname ~ ('^' || $1::text || '_[0-9]{8}$')
    AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)`

/**
 * $1: the table. A claim with a time limit instead of a lock, because DETACH … CONCURRENTLY cannot run in a
 * transaction. It uses the real clock, not the cabinet's own, and lasts longer than a run with all its waits. If a
 * process is killed during a run, the next run is delayed.
 */
const ACQUIRE_JOB_LOCK = `
  UPDATE cabinet.job_lock SET locked_until = clock_timestamp() + interval '30 minutes'
  WHERE name = 'old partitions of ' || $1 AND locked_until < clock_timestamp() RETURNING locked_until::text AS until`
/** $2: the end of our claim. A claim that another process has taken over meanwhile stays with that process. */
const RELEASE_JOB_LOCK =
  "UPDATE cabinet.job_lock SET locked_until = '-infinity' WHERE name = 'old partitions of ' || $1 AND locked_until = $2::timestamptz"

interface Old {
  readonly name: string
  readonly pending: boolean
}

const letGo = Effect.fnUntraced(function* (session: SqlConnection.Connection, table: DailyTable, days: number) {
  const run = (text: string, values: ReadonlyArray<unknown> = []) => session.execute(text, values, undefined)
  const old = (yield* run(OLD, [`cabinet.${table}`, days])) as ReadonlyArray<Old>
  const detach = Effect.forEach(
    old,
    ({ name, pending }) =>
      run(`ALTER TABLE cabinet.${table} DETACH PARTITION cabinet."${name}" ${pending ? "FINALIZE" : "CONCURRENTLY"}`),
    { discard: true },
  )
  // Detached partitions are dropped even if the next one could not be detached.
  yield* Effect.catchTag(detach, "SqlError", (error) =>
    Effect.logInfo(`An old partition of ${table} is still being read and will be dropped later.`, error.message),
  )
  const detached = (yield* run(DETACHED, [table])) as ReadonlyArray<{ readonly name: string }>
  for (const { name } of detached) yield* run(`DROP TABLE cabinet."${name}"`)
  return detached.length
})

/** Drops the partitions that ended `days` days ago by the cabinet's clock; returns how many. */
export const dropOldPartitions = (sql: PgClient.PgClient, table: DailyTable, days: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* orUnavailable(sql.reserve)
      const run = (text: string, values: ReadonlyArray<unknown> = []) => session.execute(text, values, undefined)
      const [lock] = (yield* orUnavailable(run(ACQUIRE_JOB_LOCK, [table]))) as ReadonlyArray<{ readonly until: string }>
      if (lock === undefined) return 0
      // Resets the connection's settings before it returns to its pool, and releases the claim.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          Effect.andThen(
            run("RESET statement_timeout"),
            Effect.andThen(run("RESET lock_timeout"), run(RELEASE_JOB_LOCK, [table, lock.until])),
          ),
        ),
      )
      yield* orUnavailable(run(`SET statement_timeout = '${DETACH_LIMIT}'`))
      yield* orUnavailable(run(`SET lock_timeout = '${DETACH_LIMIT}'`))
      return yield* Effect.catchTag(letGo(session, table, days), "SqlError", (error) =>
        Effect.as(
          Effect.logWarning(`Old partitions of ${table} cannot be dropped yet; this will be retried.`, error),
          0,
        ),
      )
    }),
  )
