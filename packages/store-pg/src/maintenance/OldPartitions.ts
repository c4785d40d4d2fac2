/**
 * Lets old daily partitions go. A plain DROP would make every insert wait behind a long reader of the table;
 * `DETACH … CONCURRENTLY` waits alone, holding nothing that an insert wants, and what was detached is then dropped.
 *
 * One process at a time does it; the others find it being done and leave it. A run that was cut short, by its time limit
 * or with its process, is finished by the next: PostgreSQL marks what is half detached, and what is detached and still
 * there is known by its name.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** The tables in daily partitions that are let go by age. */
export type DailyTable = "original_request" | "attempt_delivered" | "attempt_failed"

/** Waiting for readers longer than this is left to the next run. */
const DETACH_LIMIT = "20s"

/** $1 the partitioned table, $2 days: its partitions that lie wholly before that, half-detached ones first. */
const OLD = `
  SELECT c.relname AS name, i.inhdetachpending AS pending
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = $1::text::regclass
    AND (i.inhdetachpending OR to_date(right(c.relname, 8), 'YYYYMMDD') + 1
      <= ((cabinet.now() - make_interval(days => $2::int)) AT TIME ZONE 'UTC')::date)
  ORDER BY i.inhdetachpending DESC, c.relname`

/** $1 the table: what was detached from it and not yet dropped. */
const DETACHED = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = 'cabinet'::regnamespace AND c.relkind = 'r' AND c.relname ~ ('^' || $1::text || '_[0-9]{8}$')
    AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)`

/**
 * $1 the table. For a while and not by a lock, for a DETACH … CONCURRENTLY is of no transaction. By the true clock, not
 * the cabinet's own, and longer than a run with all its waiting takes; a process that is killed in it delays the next run.
 */
const ACQUIRE_JOB_LOCK = `
  UPDATE cabinet.job_lock SET locked_until = clock_timestamp() + interval '30 minutes'
  WHERE name = 'old partitions of ' || $1 AND locked_until < clock_timestamp() RETURNING locked_until::text AS until`
/** $2 until when it was taken: where it has passed to another by then, it stays theirs. */
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
  // What was detached goes, whether the next one could be detached or not.
  yield* Effect.catchTag(detach, "SqlError", (error) =>
    Effect.logInfo(`An old partition of ${table} is still being read and is let go later.`, error.message),
  )
  const detached = (yield* run(DETACHED, [table])) as ReadonlyArray<{ readonly name: string }>
  for (const { name } of detached) yield* run(`DROP TABLE cabinet."${name}"`)
  return detached.length
})

/** Lets go the days that ended `days` days ago by the cabinet's clock; answers how many partitions were dropped. */
export const dropOldPartitions = (sql: PgClient.PgClient, table: DailyTable, days: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* orUnavailable(sql.reserve)
      const run = (text: string, values: ReadonlyArray<unknown> = []) => session.execute(text, values, undefined)
      const [lock] = (yield* orUnavailable(run(ACQUIRE_JOB_LOCK, [table]))) as ReadonlyArray<{ readonly until: string }>
      if (lock === undefined) return 0
      // A connection goes back to its pool as it came, and the lock to the others.
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
          Effect.logWarning(`Old partitions of ${table} could not be let go; they will be tried again.`, error),
          0,
        ),
      )
    }),
  )
