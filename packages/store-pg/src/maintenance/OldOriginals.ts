/**
 * Deletes original requests that are past their time in the day that is not past it as a whole; whole days go with their
 * partitions. Row by row, in small bites, each a transaction of its own: it touches nothing that accepting an event wants.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** Rows of one statement. */
const DELETE_BATCH = 2_000

/** $1 days. What was received before `before` is past its time; no partition after `until` holds any of it. */
const LIMITS = `
  SELECT n.before::text AS before, (date_trunc('day', n.before, 'UTC') + interval '24 hours')::text AS until
  FROM (SELECT cabinet.now() - make_interval(hours => $1::int * 24) AS before) n`

/** $1 days: a day's end, as a value, so that the partitions behind it are not even looked at. */
const UNTIL = `SELECT until FROM (${LIMITS}) l`

/** $1 the day's end, $2 days. Ids are drawn in the order of time, but for requests that arrived at the same moment. */
const OLDEST_DUE = `
  SELECT extract(epoch FROM o.received_at + make_interval(hours => $2::int * 24) - cabinet.now())::float8 AS seconds
  FROM cabinet.original_request o WHERE o.received_at < $1::timestamptz ORDER BY o.id LIMIT 1`

/**
 * $1 the last id looked at, $2 the day's end, $3 the limit, $4 how many. The next ones by their ids, of which those that
 * are past their time are deleted: a page with none of them is behind all that are.
 */
const FORGET_PAGE = `
  WITH page AS MATERIALIZED (
    SELECT o.id, o.received_at FROM cabinet.original_request o
    WHERE o.id > $1::int8 AND o.received_at < $2::timestamptz ORDER BY o.id LIMIT $4::int
  ), gone AS (
    DELETE FROM cabinet.original_request o USING page p
    WHERE o.id = p.id AND o.received_at = p.received_at AND o.received_at < $3::timestamptz RETURNING 1)
  SELECT (SELECT max(id) FROM page)::text AS last, (SELECT count(*) FROM gone)::int AS gone`

/** Answers how many were deleted. */
export const forgetOriginals = Effect.fnUntraced(function* (sql: PgClient.PgClient, days: number) {
  const [limits] = yield* orUnavailable(sql.unsafe<{ before: string; until: string }>(LIMITS, [days]))
  const { before, until } = limits!
  let last = "0"
  let total = 0
  for (;;) {
    const page = sql.unsafe<{ last: string | null; gone: number }>(FORGET_PAGE, [last, until, before, DELETE_BATCH])
    const [found] = yield* orUnavailable(page)
    if (found!.last === null || found!.gone === 0) return total
    total += found!.gone
    last = found!.last
  }
})

/** Seconds until the oldest original is past its time; null where there is none in days that old. */
export const nextOriginal = Effect.fnUntraced(function* (sql: PgClient.PgClient, days: number) {
  const [limits] = yield* sql.unsafe<{ until: string }>(UNTIL, [days])
  const [oldest] = yield* sql.unsafe<{ seconds: number }>(OLDEST_DUE, [limits!.until, days])
  return oldest?.seconds ?? null
})
