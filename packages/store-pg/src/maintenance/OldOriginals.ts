/**
 * Deletes expired original requests of the one day that has only partly expired; whole days are dropped with their
 * partitions. It deletes in small batches, each in its own transaction, and takes no lock that accepting an event
 * needs.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** Rows per statement. */
const BATCH_ROWS = 2_000

/** $1: days. Requests received before `before` have expired; partitions after `until` contain none. */
const LIMITS = `
  SELECT n.before::text AS before, (date_trunc('day', n.before, 'UTC') + interval '24 hours')::text AS until
  FROM (SELECT cabinet.now() - make_interval(hours => $1::int * 24) AS before) n`

/** $1: days. The end of that day as a value, so that PostgreSQL does not even examine later partitions. */
const UNTIL = `SELECT until FROM (${LIMITS}) l`

/** $1: the day's end, $2: days. Ids are in order of time, except for requests that arrived at the same moment. */
const OLDEST_DUE = `
  SELECT extract(epoch FROM o.received_at + make_interval(hours => $2::int * 24) - cabinet.now())::float8 AS seconds
  FROM cabinet.original_request o WHERE o.received_at < $1::timestamptz ORDER BY o.id LIMIT 1`

/**
 * $1: the last id examined, $2: the day's end, $3: the time of expiry, $4: how many. Deletes the expired ones among the
 * next rows by id. A page without expired rows is past all of them.
 */
const DELETE_BATCH = `
  WITH page AS MATERIALIZED (
    SELECT o.id, o.received_at FROM cabinet.original_request o
    WHERE o.id > $1::int8 AND o.received_at < $2::timestamptz ORDER BY o.id LIMIT $4::int
  ), gone AS (
    DELETE FROM cabinet.original_request o USING page p
    WHERE o.id = p.id AND o.received_at = p.received_at AND o.received_at < $3::timestamptz RETURNING 1)
  SELECT (SELECT max(id) FROM page)::text AS last, (SELECT count(*) FROM gone)::int AS gone`

/** Returns the number of deleted rows. */
export const deleteOriginals = Effect.fnUntraced(function* (sql: PgClient.PgClient, days: number) {
  const [limits] = yield* orUnavailable(sql.unsafe<{ before: string; until: string }>(LIMITS, [days]))
  const { before, until } = limits!
  let last = "0"
  let total = 0
  for (;;) {
    const page = sql.unsafe<{ last: string | null; gone: number }>(DELETE_BATCH, [last, until, before, BATCH_ROWS])
    const [found] = yield* orUnavailable(page)
    if (found!.last === null || found!.gone === 0) return total
    total += found!.gone
    last = found!.last
  }
})

/** Seconds until the oldest original request expires; null if none is old enough. */
export const nextOriginal = Effect.fnUntraced(function* (sql: PgClient.PgClient, days: number) {
  const [limits] = yield* sql.unsafe<{ until: string }>(UNTIL, [days])
  const [oldest] = yield* sql.unsafe<{ seconds: number }>(OLDEST_DUE, [limits!.until, days])
  return oldest?.seconds ?? null
})
