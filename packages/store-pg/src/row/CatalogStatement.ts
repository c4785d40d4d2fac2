/**
 * Statements that find the currently readable objects in the system catalogs. They run as the owner, which knows the
 * table of each source, and check the privileges of the reader's role.
 */
import { SHOWS_OURS } from "../migrations/ReportsRole.ts"

/**
 * $1: the reader's role. Finds tables (ordinary, partitioned, foreign), views and materialized views on which the reader
 * has SELECT. Leaves out the schemas of the system and of the service, and what belongs to an extension.
 */
const READABLE = `
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_roles reader ON reader.rolname = $1::name
  LEFT JOIN cabinet.source s ON n.nspname = 'sources' AND s.table_name = c.relname AND s.deleted_at IS NULL
  WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
    AND n.nspname NOT IN ('cabinet', 'information_schema') AND left(n.nspname, 3) <> 'pg_'
    AND has_schema_privilege(reader.oid, n.oid, 'USAGE') AND has_table_privilege(reader.oid, c.oid, 'SELECT')
    AND NOT EXISTS (
      SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')`

/** `SHOWS_OURS` for one view, as a separate statement, because most objects are not views. $1: its oid. */
export const VIEW_READS_CABINET = `SELECT ${SHOWS_OURS} AS ours FROM pg_class c WHERE c.oid = $1::bigint::oid`

/** The columns of a listed object. */
const OBJECT = `
  n.nspname::text AS schema, c.relname::text AS name,
  CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'matview' ELSE 'table' END AS kind,
  s.id AS source_id, s.name AS source_name,
  obj_description(c.oid, 'pg_class') AS comment,
  CASE
    WHEN c.relkind = 'v' THEN NULL
    WHEN c.reltuples >= 0 THEN c.reltuples::bigint
    WHEN c.relkind = 'p' THEN (
      SELECT coalesce(sum(CASE WHEN l.reltuples >= 0 THEN l.reltuples::bigint ELSE pg_stat_get_live_tuples(l.oid) END), 0)::bigint
      FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf)
    WHEN c.relkind = 'f' THEN NULL
    ELSE pg_stat_get_live_tuples(c.oid)
  END AS rows_estimate`

const listReadable = (condition: string) => `SELECT ${OBJECT} ${READABLE} ${condition}
  AND NOT (c.relkind IN ('v', 'm') AND ${SHOWS_OURS})
  ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`

/** Lists all readable objects by schema and name. */
export const LIST_READABLE = listReadable("")

/** Lists the readable objects with the oids in $2. */
export const LIST_READABLE_OF = listReadable("AND c.oid = ANY ($2::int8[]::oid[])")

/**
 * True for a function of a search index that we created; `oid` is SQL for the function's oid. Until we create the first
 * one, any role that may create schemas could use its name. So it counts as ours only if we own both schema and function.
 */
export const isSearchFunction = (oid: string): string => `EXISTS (
      SELECT FROM pg_proc p JOIN pg_namespace m ON m.oid = p.pronamespace
      WHERE p.oid = ${oid} AND m.nspname = 'cabinet_search' AND NOT EXISTS (
        SELECT FROM pg_roles o
        WHERE o.oid IN (m.nspowner, p.proowner) AND o.rolname <> current_user AND NOT o.rolsuper))`

const EQUALS = "OPERATOR(pg_catalog.=)"

const rowsOf = (catalog: string, condition: string): string =>
  `SELECT x.xmin FROM pg_catalog.${catalog} x WHERE ${condition}`

/**
 * A fingerprint of the catalog rows that describe the object `c`: it changes when a row is added, removed or changed.
 * The owner and, at the moment of a read, the reader get the same result. All names are schema-qualified, because the
 * reader also runs this. One sum over all catalogs takes half the time of a sum for each.
 */
const ROW_VERSIONS = `(SELECT pg_catalog.concat(pg_catalog.count(*), '/', pg_catalog.sum(r.xmin::pg_catalog.text::pg_catalog.int8))
    FROM (${[
      rowsOf("pg_attribute", `x.attrelid ${EQUALS} c.oid AND x.attnum OPERATOR(pg_catalog.>) 0`),
      rowsOf("pg_index", `x.indrelid ${EQUALS} c.oid`),
      rowsOf("pg_statistic_ext", `x.stxrelid ${EQUALS} c.oid`),
      rowsOf(
        "pg_description",
        `x.objoid ${EQUALS} c.oid AND x.classoid ${EQUALS} 'pg_catalog.pg_class'::pg_catalog.regclass`,
      ),
    ].join(" UNION ALL ")}) r)`

/**
 * Changes whenever the description, the readability or the row estimate of a table changes, if the table is ordinary, has
 * no children and uses only PostgreSQL's own types. Every such change rewrites a catalog row in a later transaction.
 */
const CATALOG_VERSION = `concat_ws(' ', c.xmin, n.xmin, s.xmin, c.reltuples,
    CASE WHEN c.reltuples < 0 THEN pg_stat_get_live_tuples(c.oid) END,
    has_schema_privilege(reader.oid, n.oid, 'USAGE'), has_table_privilege(reader.oid, c.oid, 'SELECT'),
    ${ROW_VERSIONS},
    CASE WHEN s.id IS NOT NULL THEN (
      SELECT concat(count(*), '/', sum(x.xmin::text::bigint)) FROM cabinet.field_column x WHERE x.source_id = s.id) END)`

/**
 * The part of the catalog version that determines how rows are read and that the reader can see; the table's source is
 * not part of it.
 */
const READ_VERSION = `pg_catalog.concat_ws(' ', c.xmin, n.xmin, ${ROW_VERSIONS})`

/** `oid`: SQL for the object's oid. NULL if the object is gone. */
export const readVersionOf = (oid: string): string =>
  `(SELECT ${READ_VERSION} FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid ${EQUALS} c.relnamespace WHERE c.oid ${EQUALS} ${oid})`

/**
 * Whether planning a read of the table `c` may run a customer's function. The planner evaluates parts of the expressions
 * in indexes, statistics and constraints, and generated columns may be computed on read. PostgreSQL's own objects have
 * lower oids, and the functions of search indexes are ours.
 */
const RUNS_OTHERS = `(
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated = 'v')
    OR EXISTS (
      SELECT FROM (
        SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i
          WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
        UNION ALL SELECT 'pg_statistic_ext'::regclass, x.oid FROM pg_statistic_ext x WHERE x.stxrelid = c.oid
        UNION ALL SELECT 'pg_constraint'::regclass, o.oid FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype = 'c'
      ) part (catalog, oid)
      JOIN pg_depend d ON d.classid = part.catalog AND d.objid = part.oid
      WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass) AND d.refobjid >= 16384
        AND NOT (d.refclassid = 'pg_proc'::regclass AND ${isSearchFunction("d.refobjid")})))`

/** $1: the reader's role; $2: the object's oid. Returns no row if the object is gone. */
export const CATALOG_VERSION_OF_FOUND = `
  SELECT ${CATALOG_VERSION} AS catalog_version
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_roles reader ON reader.rolname = $1::name
  LEFT JOIN cabinet.source s ON n.nspname = 'sources' AND s.table_name = c.relname AND s.deleted_at IS NULL
  WHERE c.oid = $2::bigint::oid`

/** Whether the table `c` has a search index over all its columns; `searching` is SQL for the name of its function. */
export const isSearchIndexed = (searching: string): string => `(NOT c.relhassubclass AND EXISTS (
      SELECT FROM pg_index i
      JOIN pg_depend f ON f.classid = 'pg_class'::regclass AND f.objid = i.indexrelid
        AND f.refclassid = 'pg_proc'::regclass AND f.refobjid = to_regprocedure(${searching}) AND ${isSearchFunction("f.refobjid")}
      WHERE i.indrelid = c.oid AND i.indisvalid AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND NOT EXISTS (
          SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.refobjsubid = a.attnum))))`

/**
 * Finds one readable object. $2, $3: its schema and name; $4: the function that a search index of it would use. Structures
 * are returned as JSON text. A column is: name, shown type, oid of the type, not null, comment, label, modifier of the type.
 */
export const FIND_READABLE = `
  SELECT ${OBJECT}, c.oid::bigint AS oid, c.relowner::bigint AS owner, ${CATALOG_VERSION} AS catalog_version, ${READ_VERSION} AS read_version, c.relrowsecurity AS row_policies,
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END AS definition,
    (SELECT json_agg(json_build_array(a.attname, format_type(a.atttypid, NULL), a.atttypid::bigint,
        a.attnotnull AND NOT EXISTS (SELECT FROM pg_constraint o
          WHERE o.conrelid = c.oid AND o.contype = 'n' AND NOT o.convalidated AND o.conkey = ARRAY[a.attnum]),
        col_description(c.oid, a.attnum), coalesce(f.label, f.field, a.attname), a.atttypmod) ORDER BY a.attnum)
      FROM pg_attribute a
      LEFT JOIN cabinet.field_column f ON f.source_id = s.id AND f.name = a.attname
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
    (SELECT json_agg(a.attname ORDER BY k.place)
      FROM pg_index i
      CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
      WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND k.place <= i.indnkeyatts)::text AS key,
    CASE WHEN c.relkind = 'f' THEN true WHEN NOT c.relhassubclass THEN false ELSE EXISTS (
      WITH RECURSIVE part (oid) AS (
        SELECT c.oid UNION SELECT h.inhrelid FROM part JOIN pg_inherits h ON h.inhparent = part.oid)
      SELECT FROM part JOIN pg_foreign_table l ON l.ftrelid = part.oid) END AS has_foreign,
    c.relhassubclass AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid) AS has_heirs,
    c.relkind = 'p' AS partitioned, c.relhassubclass AS had_heirs, ${RUNS_OTHERS} AS runs_others,
    ${isSearchIndexed("$4")} AS search_indexed
  ${READABLE} AND n.nspname = $2::name AND c.relname = $3::name`

/**
 * Describes types and all the types that they consist of. $1: their oids; $2: the reader's role. A base type comes with the
 * operators of its default order, or those of the type that it is binary-coercible to (varchar to text). Their schema is
 * included, and whether the reader may use it.
 */
export const DESCRIBE_TYPES = `
  WITH RECURSIVE need (oid) AS (
    SELECT unnest($1::bigint[])::oid
    UNION
    SELECT part.oid FROM need
    JOIN pg_type t ON t.oid = need.oid
    CROSS JOIN LATERAL (
      SELECT t.typbasetype WHERE t.typtype = 'd'
      UNION ALL SELECT t.typelem WHERE t.typsubscript = 'array_subscript_handler'::regproc
      UNION ALL SELECT a.atttypid FROM pg_attribute a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL SELECT g.rngsubtype FROM pg_range g
        WHERE t.typtype IN ('r', 'm') AND t.oid IN (g.rngtypid, g.rngmultitypid)
    ) part (oid)
  )
  SELECT t.oid::bigint AS oid, n.nspname::text AS schema, t.typname::text AS name, format_type(t.oid, NULL) AS shown,
    t.typtype::text AS typtype, t.typcategory::text AS category, t.typbasetype::bigint AS base,
    CASE WHEN t.typsubscript = 'array_subscript_handler'::regproc THEN t.typelem::bigint END AS element,
    CASE WHEN t.typtype IN ('r', 'm') THEN
      (SELECT g.rngsubtype::bigint FROM pg_range g WHERE t.oid IN (g.rngtypid, g.rngmultitypid)) END AS subtype,
    (SELECT json_agg(json_build_array(a.attname, a.atttypid::bigint) ORDER BY a.attnum)
      FROM pg_attribute a
      WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)::text AS fields,
    (SELECT json_object_agg(m.amopstrategy, json_build_array(on_.nspname, o.oprname,
        has_schema_privilege($2::name, on_.oid, 'USAGE')))::text
      FROM pg_amop m
      JOIN pg_operator o ON o.oid = m.amopopr
      JOIN pg_namespace on_ ON on_.oid = o.oprnamespace
      WHERE (m.amopfamily, m.amoplefttype) = (
          SELECT k.opcfamily, k.opcintype FROM pg_opclass k JOIN pg_am am ON am.oid = k.opcmethod AND am.amname = 'btree'
          WHERE k.opcdefault AND (k.opcintype = t.oid OR k.opcintype IN (
            SELECT y.casttarget FROM pg_cast y
            WHERE y.castsource = t.oid AND y.castmethod = 'b' AND y.castcontext = 'i'))
          ORDER BY k.opcintype = t.oid DESC, k.opcintype = 'text'::regtype DESC, k.opcintype LIMIT 1)
        AND m.amoprighttype = m.amoplefttype AND m.amoppurpose = 's') AS operators
  FROM need JOIN pg_type t ON t.oid = need.oid JOIN pg_namespace n ON n.oid = t.typnamespace`
