/** Statements on the indexes that `cabinet table index` creates, which their names identify. */

const PREFIX = "cabinet_index_"

/** Whether an index, `i` of pg_index with its class `k`, is one of ours. */
export const IS_OURS = `left(k.relname, ${PREFIX.length}) = '${PREFIX}'`

const COLUMNS = `ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY u (attnum, at)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum ORDER BY u.at)`

/** The columns of an index, from its class `k` and statistics `s`; `progress` of a running build, from 0 to 1. */
export const INDEX_FIGURES = `pg_relation_size(k.oid)::float8 AS bytes, coalesce(s.idx_scan, 0)::float8 AS scans,
    (SELECT CASE WHEN b.blocks_total > 0 THEN least(1, b.blocks_done::float8 / b.blocks_total) ELSE 0 END
     FROM pg_stat_progress_create_index b WHERE b.index_relid = k.oid LIMIT 1) AS progress`

/** $1: the oid of the table. */
export const COLUMN_INDEXES = `
  SELECT k.relname::text AS name, ${COLUMNS} AS columns, m.amname::text AS method, i.indisvalid AS valid,
    ${INDEX_FIGURES}
  FROM pg_index i
  JOIN pg_class k ON k.oid = i.indexrelid
  JOIN pg_am m ON m.oid = k.relam
  LEFT JOIN pg_stat_all_indexes s ON s.indexrelid = k.oid
  WHERE i.indrelid = $1::bigint::oid AND ${IS_OURS}
  ORDER BY k.relname COLLATE "C"`

/**
 * $1: the oid of the table, $2: names of columns, $3: the method. Finds an index over all rows, in ascending order with
 * NULLs last.
 */
export const SERVING_INDEX = `
  SELECT k.relname::text AS name
  FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am m ON m.oid = k.relam
  WHERE i.indrelid = $1::bigint::oid AND i.indisvalid AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL
    AND m.amname = $3::name AND (${COLUMNS})[1:cardinality($2::text[])] = $2::text[]
    AND (SELECT bool_and(o = 0) FROM unnest(i.indoption) o)
    AND (SELECT bool_and(c.opcdefault) FROM unnest(i.indclass) u JOIN pg_opclass c ON c.oid = u)
  ORDER BY cardinality(i.indkey::int2[]), k.relname COLLATE "C" LIMIT 1`

/**
 * Finds tables of at least 100,000 rows that were read whole at least 100 times since the statistics began. On average
 * half of the rows must have been read, because reads of a first page end early and do not count.
 */
export const TABLES_READ_WHOLE = `
  SELECT concat(s.schemaname, '.', s.relname) AS name, s.seq_scan::float8 AS times
  FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  WHERE s.schemaname <> 'cabinet' AND c.reltuples >= 100000 AND s.seq_scan >= 100
    AND s.seq_tup_read >= s.seq_scan * c.reltuples::float8 / 2
  ORDER BY s.seq_tup_read DESC LIMIT 5`

/** Finds the first free name for an index of the table; $1: the table's oid. */
export const FREE_COLUMN_INDEX_NAME = `
  SELECT n.name FROM pg_class c
  CROSS JOIN LATERAL (SELECT '${PREFIX}' || c.oid || '_' || g AS name, g FROM generate_series(1, 1000) g) n
  WHERE c.oid = $1::bigint::oid
    AND NOT EXISTS (SELECT FROM pg_class o WHERE o.relnamespace = c.relnamespace AND o.relname = n.name)
  ORDER BY n.g LIMIT 1`

/** Expects quoted names. */
export const buildColumnIndex = (
  index: string,
  table: string,
  method: string,
  columns: ReadonlyArray<string>,
): string => `CREATE INDEX CONCURRENTLY ${index} ON ${table} USING ${method} (${columns.join(", ")})`

/** Finds the sorted indexes of a column, which its new type's values may be too long for. $1: the table, $2: the column. */
export const SORTED_INDEXES_OF = `
  SELECT format('%I.%I', n.nspname, k.relname) AS name
  FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_namespace n ON n.oid = k.relnamespace
  JOIN pg_am m ON m.oid = k.relam
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = $2::name AND a.attnum = ANY (i.indkey)
  WHERE i.indrelid = $1::regclass AND m.amname = 'btree' AND ${IS_OURS}`
