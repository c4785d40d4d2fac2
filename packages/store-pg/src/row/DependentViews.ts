/**
 * Drops the views that depend on a table and recreates them unchanged: definition, options, owner, privileges (including
 * those on columns), defaults, comments, triggers, rules, and the indexes of materialized views. All of it happens in the
 * caller's transaction, so that no other session sees them missing.
 *
 * Code in a view runs when the view is parsed, filled or indexed, and must not run with our privileges, so each view is
 * recreated by its owner (RestrictedRun). A view that we own would run as us, so it is refused unless everything that it
 * uses belongs to PostgreSQL or to us.
 *
 * Decision: docs/decisions/0027-views-are-recreated-by-their-owner.md
 */
import type { ViewObstacle } from "@data-cabinet/core/row/SourceColumnStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { isSearchFunction } from "./CatalogStatement.ts"
import { execute, literal, restrictedRun } from "./RestrictedRun.ts"

/** A view with everything needed to recreate it. */
export interface SavedView {
  readonly oid: bigint
  /** Those of the found views that it reads directly. */
  readonly reads: ReadonlyArray<bigint>
  readonly schema: string
  readonly name: string
  readonly kind: "v" | "m"
  readonly definition: string
  readonly owner: string
  /** Whether we own it, so that it would be recreated with our privileges. */
  readonly mine: boolean
  readonly options: ReadonlyArray<string> | null
  readonly populated: boolean
  readonly comment: string | null
  readonly column_comments: ReadonlyArray<{ readonly column: string; readonly comment: string }> | null
  readonly grants: ReadonlyArray<{
    readonly grantee: string | null
    readonly privilege: string
    readonly grantable: boolean
    /** Null for a privilege on the whole view. */
    readonly column: string | null
  }> | null
  readonly defaults: ReadonlyArray<{ readonly column: string; readonly value: string }> | null
  /** Rules, and INSTEAD OF triggers. */
  readonly reactions: ReadonlyArray<string> | null
  readonly indexes: ReadonlyArray<string> | null
}

/** Finds views of views, each once, even if they read each other in a cycle, which PostgreSQL lets an author create. */
const DEPENDENTS = `
WITH RECURSIVE dependents AS (
  SELECT v.oid FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_class v ON v.oid = r.ev_class
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND v.oid <> $1::regclass
    AND ($2::int2 = 0 OR d.refobjsubid = $2::int2)
  UNION
  SELECT v.oid FROM dependents p
  JOIN pg_depend d ON d.refobjid = p.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class WHERE v.oid <> p.oid
)
SELECT c.oid::bigint AS oid,
  ARRAY(SELECT DISTINCT x.refobjid::bigint FROM pg_rewrite r
        JOIN pg_depend x ON x.classid = 'pg_rewrite'::regclass AND x.objid = r.oid AND x.refclassid = 'pg_class'::regclass
        JOIN dependents o ON o.oid = x.refobjid
        WHERE r.ev_class = c.oid AND x.refobjid <> c.oid) AS reads, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
  pg_get_viewdef(c.oid) AS definition, pg_get_userbyid(c.relowner)::text AS owner,
  pg_get_userbyid(c.relowner) = current_user AS mine,
  to_json(c.reloptions) AS options, c.relispopulated AS populated, obj_description(c.oid, 'pg_class') AS comment,
  (SELECT json_agg(json_build_object('column', a.attname, 'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NOT NULL) AS column_comments,
  (SELECT json_agg(json_build_object('grantee', CASE WHEN x.grantee = 0 THEN NULL ELSE pg_get_userbyid(x.grantee) END,
                                     'privilege', x.privilege_type, 'grantable', x.is_grantable, 'column', x.column))
   FROM (SELECT NULL::name AS column, r.* FROM aclexplode(c.relacl) r
         UNION ALL SELECT a.attname, r.* FROM pg_attribute a, aclexplode(a.attacl) r WHERE a.attrelid = c.oid) x
   WHERE x.grantee <> c.relowner) AS grants,
  (SELECT json_agg(json_build_object('column', a.attname, 'value', pg_get_expr(f.adbin, f.adrelid)) ORDER BY a.attnum)
   FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum WHERE f.adrelid = c.oid) AS defaults,
  (SELECT json_agg(made) FROM (
     SELECT pg_get_ruledef(r.oid) AS made FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'
     UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) x) AS reactions,
  (SELECT json_agg(pg_get_indexdef(i.indexrelid)) FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
FROM dependents d JOIN pg_class c ON c.oid = d.oid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY c.oid`

/**
 * Orders the views so that each follows the views that it reads. Views in a cycle, and those that read them, come last.
 */
const inOrder = (views: ReadonlyArray<SavedView>): ReadonlyArray<SavedView> => {
  const readers = new Map<bigint, Array<SavedView>>(views.map(({ oid }) => [oid, []]))
  for (const view of views) for (const oid of view.reads) readers.get(oid)!.push(view)
  const owed = new Map(views.map((view) => [view, view.reads.length]))
  // The loop appends to the list that it iterates over.
  const ready = views.filter((view) => view.reads.length === 0)
  for (const { oid } of ready) {
    for (const reader of readers.get(oid)!) {
      const left = owed.get(reader)! - 1
      owed.set(reader, left)
      if (left === 0) ready.push(reader)
    }
  }
  return [...ready, ...views.filter((view) => owed.get(view)! > 0)]
}

/**
 * Returns the views that read the table, or one of its columns, directly or through other views. Unless they form a
 * cycle, they can be created in this order.
 */
export const dependentViews = (
  sql: PgClient.PgClient,
  table: string,
  columnNumber: number,
): Effect.Effect<ReadonlyArray<SavedView>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<SavedView>(DEPENDENTS, [table, columnNumber]), inOrder)

/** Drops the views. Fails with 55P03 after waiting this many milliseconds, in total, for their locks. */
export const dropViews = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  views: ReadonlyArray<SavedView>,
  lockTimeoutMillis: number,
) {
  const began = yield* Clock.currentTimeMillis
  for (const view of views.toReversed()) {
    const left = lockTimeoutMillis - ((yield* Clock.currentTimeMillis) - began)
    yield* sql.unsafe(`SET LOCAL lock_timeout = ${Math.max(1, left)}`)
    yield* sql.unsafe(
      `DROP ${view.kind === "m" ? "MATERIALIZED VIEW" : "VIEW"} ${quoteQualified(view.schema, view.name)}`,
    )
  }
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${lockTimeoutMillis}`)
})

/**
 * Finds an object that a view uses and that belongs neither to PostgreSQL nor to our schemas: a function, type or operator,
 * or a relation of another owner. The view uses it directly, through its rules, triggers and indexes, or through what it
 * reads. $1: the view's oid; returns at most one row.
 */
const FOREIGN_PART = `
WITH RECURSIVE used (classid, objid) AS (
  SELECT 'pg_class'::regclass::oid, $1::bigint::oid
  UNION
  SELECT more.classid, more.objid FROM used CROSS JOIN LATERAL (
    SELECT d.refclassid AS classid, d.refobjid AS objid FROM pg_depend d
    WHERE d.classid = used.classid AND d.objid = used.objid AND d.refobjid >= 16384
    UNION ALL
    SELECT d.classid, d.objid FROM pg_depend d
    WHERE d.refclassid = used.classid AND d.refobjid = used.objid AND d.deptype IN ('a', 'i')
      AND (d.classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass)
        OR d.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = d.objid))
  ) more
)
SELECT pg_describe_object(classid, objid, 0) AS part FROM used
WHERE CASE
  WHEN classid = 'pg_class'::regclass THEN (
    SELECT c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user) AND NOT r.rolsuper
    FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = objid)
  WHEN classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass,
    'pg_namespace'::regclass) THEN false
  -- The row type of a relation, which is looked at by itself.
  WHEN classid = 'pg_type'::regclass THEN NOT EXISTS (
    SELECT FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid AND c.relkind <> 'c'
    WHERE t.oid = objid OR t.typarray = objid)
  WHEN classid = 'pg_proc'::regclass THEN NOT ${isSearchFunction("objid")}
  ELSE true END
LIMIT 1`

/** Returns the first view that must not be recreated and the reason, or null if all of them may be. */
export const findObstacle = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  views: ReadonlyArray<SavedView>,
): Effect.fn.Return<ViewObstacle | null, SqlError.SqlError> {
  const made = new Set<bigint>()
  for (const view of views) {
    const name = `${view.schema}.${view.name}`
    if (view.reads.some((oid) => !made.has(oid))) return { view: name, is: "recursive" }
    made.add(view.oid)
    if (view.kind !== "v" && view.kind !== "m") return { view: name, is: "rule" }
    if (!view.mine) continue
    const [foreign] = yield* sql.unsafe<{ part: string }>(FOREIGN_PART, [view.oid])
    if (foreign !== undefined) return { view: name, is: "trusted", part: foreign.part }
  }
  return null
})

/** Null means PUBLIC. */
const roleOf = (name: string | null): string => (name === null ? "PUBLIC" : quoteName(name))

/** Revokes what the owner's default privileges have just granted, because the original view may lack it. */
const revokeGiven = (name: string): string => `
FOR given IN
  SELECT DISTINCT CASE WHEN x.grantee <> 0 THEN pg_catalog.pg_get_userbyid(x.grantee) END
  FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) x
  WHERE c.oid = ${literal(name)}::pg_catalog.regclass AND x.grantee <> c.relowner
LOOP
  EXECUTE pg_catalog.concat(${literal(`REVOKE ALL ON ${name} FROM `)}, coalesce(pg_catalog.quote_ident(given), 'PUBLIC'));
END LOOP;`

const remade = (view: SavedView): ReadonlyArray<string> => {
  const name = quoteQualified(view.schema, view.name)
  const kind = view.kind === "m" ? "MATERIALIZED VIEW" : "VIEW"
  const options = view.options === null ? "" : ` WITH (${view.options.join(", ")})`
  const data = view.kind === "m" && !view.populated ? " WITH NO DATA" : ""
  const statements = [`CREATE ${kind} ${name}${options} AS ${view.definition.trim().replace(/;$/, "")}${data}`]
  for (const { column, value } of view.defaults ?? []) {
    statements.push(`ALTER VIEW ${name} ALTER COLUMN ${quoteName(column)} SET DEFAULT ${value}`)
  }
  statements.push(...(view.indexes ?? []))
  if (view.comment !== null) statements.push(`COMMENT ON ${kind} ${name} IS ${literal(view.comment)}`)
  for (const { column, comment } of view.column_comments ?? []) {
    statements.push(`COMMENT ON COLUMN ${name}.${quoteName(column)} IS ${literal(comment)}`)
  }
  statements.push(...(view.reactions ?? []))
  const grants = (view.grants ?? []).map(({ grantee, privilege, grantable, column }) => {
    const part = column === null ? "" : ` (${quoteName(column)})`
    return `GRANT ${privilege}${part} ON ${name} TO ${roleOf(grantee)}${grantable ? " WITH GRANT OPTION" : ""}`
  })
  return [...statements.map(execute), revokeGiven(name), ...grants.map(execute)]
}

/** Recreates each view as its owner; consecutive views of the same owner share a run. */
export const recreateViews = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  views: ReadonlyArray<SavedView>,
): Effect.fn.Return<void, SqlError.SqlError> {
  for (let at = 0; at < views.length;) {
    const { owner } = views[at]!
    const others = views.findIndex((view, index) => index > at && view.owner !== owner)
    const end = others === -1 ? views.length : others
    yield* restrictedRun(sql, owner, views.slice(at, end).flatMap(remade), "given pg_catalog.name;")
    at = end
  }
})
