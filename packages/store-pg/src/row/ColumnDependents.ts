/**
 * Finds the objects that make PostgreSQL reject a change of a column's type, often without naming them. Views do not
 * count, because they can be recreated. An author can create most of these objects on any column that it may read.
 *
 * Objects that PostgreSQL rebuilds automatically do not count: indexes, statistics, checks, and the column's own
 * default. Neither do the triggers of a rebuild.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/**
 * $1: the table, $2: the column's number, $3: the oids of the views that will be dropped and recreated. Types built on a
 * row type (arrays, domains, composite types, views of whole rows) count like the row type itself. A function that takes
 * such a type only prevents dropping a view.
 */
const DEPENDENTS = `
WITH RECURSIVE views (oid) AS (
  SELECT unnest($3::int8[])::oid
), row_types (oid) AS (
  SELECT c.reltype FROM pg_class c WHERE c.oid = $1::regclass
  UNION
  SELECT CASE WHEN d.classid = 'pg_type'::regclass THEN d.objid ELSE c.reltype END
  FROM row_types t JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = t.oid
  LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind IN ('c', 'v', 'f')
    AND c.oid NOT IN (SELECT oid FROM views)
  WHERE d.classid = 'pg_type'::regclass OR c.oid IS NOT NULL
), view_types (oid) AS (
  SELECT t.oid FROM pg_class c JOIN pg_type r ON r.oid = c.reltype JOIN pg_type t ON t.oid IN (r.oid, r.typarray)
  WHERE c.oid IN (SELECT oid FROM views)
), found AS (
  SELECT d.classid, d.objid, d.objsubid FROM pg_depend d
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int2
    AND NOT EXISTS (SELECT FROM pg_trigger t
      WHERE d.classid = 'pg_trigger'::regclass AND t.oid = d.objid AND t.tgfoid = 'cabinet.note_row_change'::regproc)
    AND (d.classid IN ('pg_proc'::regclass, 'pg_policy'::regclass, 'pg_trigger'::regclass, 'pg_publication_rel'::regclass)
      OR d.classid = 'pg_attrdef'::regclass AND EXISTS (
        SELECT FROM pg_attrdef f WHERE f.oid = d.objid AND (f.adrelid, f.adnum) <> ($1::regclass, $2::int2))
      OR d.classid = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint k WHERE k.oid = d.objid AND k.contype = 'f'))
  UNION
  SELECT d.classid, d.objid, d.objsubid FROM row_types t
  JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = t.oid AND d.classid = 'pg_class'::regclass
  JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p', 'm')
  WHERE d.objsubid > 0 AND c.oid NOT IN (SELECT oid FROM views)
  UNION
  SELECT d.classid, d.objid, d.objsubid FROM pg_depend d
  WHERE d.deptype = 'n'
    AND (d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM views)
      OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (SELECT oid FROM view_types))
    AND NOT (d.classid = 'pg_class'::regclass AND d.objid IN (SELECT oid FROM views))
    AND NOT (d.classid = 'pg_rewrite'::regclass AND EXISTS (
      SELECT FROM pg_rewrite r WHERE r.oid = d.objid AND r.ev_class IN (SELECT oid FROM views)))
)
SELECT DISTINCT pg_describe_object(classid, objid, objsubid) AS object FROM found ORDER BY 1 LIMIT 5`

/** Returns up to five dependents as PostgreSQL describes them, with schema-qualified names. */
export const columnDependents = (
  sql: PgClient.PgClient,
  table: string,
  columnNumber: number,
  views: unknown,
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<{ object: string }>(DEPENDENTS, [table, columnNumber, views]), (rows) =>
    rows.map(({ object }) => object),
  )
