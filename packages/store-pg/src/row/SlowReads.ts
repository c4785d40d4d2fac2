/**
 * Records slow reads of tables, with the index that would speed them up, for the diagnostics. Counts are kept in the process
 * and written some seconds later, so a read costs only a comparison. Names of columns are kept, values never. A process that
 * ends loses its unwritten counts.
 *
 * Decision: docs/decisions/0078-slow-reads-are-remembered-by-their-index.md
 */
import type { PageQuery } from "@data-cabinet/core/row/RowReader"
import { servingColumns } from "@data-cabinet/core/row/IndexableColumn"
import { background } from "@data-cabinet/core/runtime/Background"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { Statements } from "../connection/StatementPool.ts"

/** A read that takes this long is slow, in milliseconds. */
const SLOW_MILLIS = 250

/** The most indexes counted between two writes, and the most that are stored. */
const MAX_COUNTED = 100
const MAX_KEPT = 500

/** How often new counts are written. */
const EVERY = "10 seconds"

/** The reads that one index would serve. */
interface SlowRead {
  readonly schema: string
  readonly table: string
  readonly columns: ReadonlyArray<string>
  count: number
  totalMillis: number
  worstMillis: number
}

/** $1: an array of SlowRead as JSON. An entry without slow reads for a week starts again at zero. */
const WRITE = `
  INSERT INTO cabinet.slow_read AS r (schema_name, table_name, columns, count, total_millis, worst_millis, since, last_at)
  SELECT n.schema, n."table", n.columns, n.count, n."totalMillis", n."worstMillis", cabinet.now(), cabinet.now()
  FROM json_to_recordset($1::json) AS n (
    schema text, "table" text, columns text[], count int8, "totalMillis" float8, "worstMillis" float8)
  ORDER BY n.schema, n."table", n.columns
  ON CONFLICT (schema_name, table_name, columns) DO UPDATE SET
    count = excluded.count + CASE WHEN r.last_at > excluded.last_at - interval '7 days' THEN r.count ELSE 0 END,
    total_millis = excluded.total_millis + CASE WHEN r.last_at > excluded.last_at - interval '7 days' THEN r.total_millis ELSE 0 END,
    worst_millis = greatest(excluded.worst_millis, CASE WHEN r.last_at > excluded.last_at - interval '7 days' THEN r.worst_millis END),
    since = CASE WHEN r.last_at > excluded.last_at - interval '7 days' THEN r.since ELSE excluded.since END,
    last_at = excluded.last_at`

const FORGET = `
  DELETE FROM cabinet.slow_read r WHERE r.last_at < cabinet.now() - interval '7 days'
    OR (r.schema_name, r.table_name, r.columns) IN (
      SELECT o.schema_name, o.table_name, o.columns FROM cabinet.slow_read o ORDER BY o.last_at DESC OFFSET ${MAX_KEPT})`

/** An index is worth it from this many slow reads, and from this many rows. */
const MIN_COUNT = 3
const MIN_ROWS = 10_000

/** Finds last week's slow reads that a missing index would serve, on a table that the cabinet may index. */
export const SLOW_LATELY = `
SELECT concat(r.schema_name, '.', r.table_name) AS name, r.columns, r.count::float8 AS count,
  round(r.total_millis / r.count)::float8 AS "meanMillis", round(r.worst_millis)::float8 AS "worstMillis",
  cabinet.rfc3339(r.since) AS since, cabinet.rfc3339(r.last_at) AS "lastAt"
FROM cabinet.slow_read r
JOIN pg_namespace n ON n.nspname = r.schema_name
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = r.table_name
WHERE r.last_at > cabinet.now() - interval '7 days' AND r.count >= ${MIN_COUNT}
  AND c.relkind IN ('r', 'm') AND pg_has_role(c.relowner, 'USAGE')
  AND greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) >= ${MIN_ROWS}
  AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid)
  AND r.columns <@ ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
  AND NOT EXISTS (
    SELECT FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am m ON m.oid = k.relam
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND m.amname IN ('btree', 'hash')
      AND r.columns = (ARRAY(
        SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY u (attnum, at)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum ORDER BY u.at))[1:cardinality(r.columns)])
ORDER BY r.total_millis DESC, name LIMIT 5`

export class SlowReads {
  /** Counts by table and columns, since the last write. */
  #pending = new Map<string, SlowRead>()

  note(page: PageQuery, millis: number): void {
    if (millis < SLOW_MILLIS) return
    const columns = servingColumns(page)
    if (columns.length === 0) return
    const { schema, name: table } = page.table.detail
    const key = JSON.stringify([schema, table, columns])
    const known = this.#pending.get(key)
    if (known === undefined) {
      if (this.#pending.size >= MAX_COUNTED) return
      this.#pending.set(key, { schema, table, columns, count: 1, totalMillis: millis, worstMillis: millis })
      return
    }
    known.count++
    known.totalMillis += millis
    known.worstMillis = Math.max(known.worstMillis, millis)
  }

  write(sql: Statements): Effect.Effect<void, SqlError.SqlError> {
    return Effect.suspend(() => {
      if (this.#pending.size === 0) return Effect.void
      const counted = [...this.#pending.values()]
      this.#pending = new Map()
      return Effect.asVoid(Effect.andThen(sql.unsafe(WRITE, [JSON.stringify(counted)]), sql.unsafe(FORGET)))
    })
  }
}

/** Creates the counter, which writes its counts until the scope closes. */
export const slowReads = (sql: Statements): Effect.Effect<SlowReads, never, Scope.Scope> =>
  Effect.gen(function* () {
    const slow = new SlowReads()
    yield* background("slow read count", EVERY, slow.write(sql), { firstAfter: EVERY, quiet: true })
    return slow
  })
