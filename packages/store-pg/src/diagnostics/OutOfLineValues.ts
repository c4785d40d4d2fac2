/**
 * How many values a table has outside its rows. PostgreSQL numbers them with 32 bits for each table, and searches longer for
 * a free number the fewer are left.
 *
 * The count is an upper bound from `pg_class`. Counting would read an index of terabytes, only a superuser may read the
 * tables that hold these values, and PostgreSQL collects no statistics of their columns. Two bounds cost nothing: a
 * value has at least one chunk, and a row has at most one value per column. The lower of the two is near the truth for
 * values of few kilobytes, and for tables with one large column; it never hides a table that is near the limit, as far
 * as VACUUM has kept the estimates up to date.
 */
import type { PgClient } from "@effect/sql-pg"
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"

const HALF = 2 ** 31

/** Bytes of a page of large chunks, by chunk, for a table that VACUUM has not seen. */
const CHUNK_BYTES = 2_048

/** $1: the least number of values. */
const OUT_OF_LINE = `
SELECT one.name AS "table", one.values::float8 AS "values" FROM (
  SELECT format('%s.%s', n.nspname, c.relname) AS name, least(
      CASE WHEN t.reltuples >= 0 THEN t.reltuples ELSE pg_relation_size(t.oid) / ${CHUNK_BYTES} END,
      CASE WHEN c.reltuples >= 0 THEN c.reltuples * (
        SELECT count(*) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage IN ('x', 'e')) END) AS values
  FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('cabinet', 'sources') AND c.relkind = 'r'
) one WHERE one.values >= $1 ORDER BY one.values DESC LIMIT 5`

/** The tables with at least `bound` values, by default half of what PostgreSQL can number. */
export const outOfLineTables = (
  sql: PgClient.PgClient,
  bound = HALF,
): Effect.Effect<ReadonlyArray<{ readonly table: string; readonly values: number }>, SqlError.SqlError> =>
  sql.unsafe(OUT_OF_LINE, [bound])
