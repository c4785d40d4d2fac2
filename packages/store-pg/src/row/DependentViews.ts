/**
 * Takes the views that depend on a table out of the way and puts them back as they were: definition, options, owner,
 * rights (columns' too), comments, triggers, rules, and the indexes of materialized views. In the caller's transaction, so that nobody ever sees the gap.
 */
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** A view with all that it takes to make it again; in the order in which they can be made. */
interface SavedView {
  readonly schema: string
  readonly name: string
  readonly kind: "v" | "m"
  readonly definition: string
  readonly owner: string
  readonly options: ReadonlyArray<string> | null
  readonly populated: boolean
  readonly comment: string | null
  readonly column_comments: ReadonlyArray<{ readonly column: string; readonly comment: string }> | null
  readonly grants: ReadonlyArray<{
    readonly grantee: string | null
    readonly privilege: string
    readonly grantable: boolean
    /** Null for a right to the whole view. */
    readonly column: string | null
  }> | null
  /** Rules, and triggers that take the place of writing. */
  readonly reactions: ReadonlyArray<string> | null
  readonly indexes: ReadonlyArray<string> | null
}

/** Views upon views, each once, at its greatest distance from the table: a view is made after all it reads from. */
const DEPENDENTS = `
WITH RECURSIVE dependents AS (
  SELECT v.oid, 1 AS depth FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_class v ON v.oid = r.ev_class
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND v.oid <> $1::regclass
    AND ($2::int2 = 0 OR d.refobjsubid = $2::int2)
  UNION
  SELECT v.oid, p.depth + 1 FROM dependents p
  JOIN pg_depend d ON d.refobjid = p.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class WHERE v.oid <> p.oid
)
SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
  pg_get_viewdef(c.oid) AS definition, pg_get_userbyid(c.relowner)::text AS owner,
  to_json(c.reloptions) AS options, c.relispopulated AS populated, obj_description(c.oid, 'pg_class') AS comment,
  (SELECT json_agg(json_build_object('column', a.attname, 'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NOT NULL) AS column_comments,
  (SELECT json_agg(json_build_object('grantee', CASE WHEN x.grantee = 0 THEN NULL ELSE pg_get_userbyid(x.grantee) END,
                                     'privilege', x.privilege_type, 'grantable', x.is_grantable, 'column', x.column))
   FROM (SELECT NULL::name AS column, r.* FROM aclexplode(c.relacl) r
         UNION ALL SELECT a.attname, r.* FROM pg_attribute a, aclexplode(a.attacl) r WHERE a.attrelid = c.oid) x
   WHERE x.grantee <> c.relowner) AS grants,
  (SELECT json_agg(made) FROM (
     SELECT pg_get_ruledef(r.oid) AS made FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'
     UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) x) AS reactions,
  (SELECT json_agg(pg_get_indexdef(i.indexrelid)) FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
FROM (SELECT oid, max(depth) AS depth FROM dependents GROUP BY oid) d
JOIN pg_class c ON c.oid = d.oid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY d.depth, c.oid`

/** The views that read the table, or one column of it, directly or through others. */
export const dependentViews = (
  sql: PgClient.PgClient,
  table: string,
  columnNumber: number,
): Effect.Effect<ReadonlyArray<SavedView>, SqlError.SqlError> =>
  sql.unsafe<SavedView>(DEPENDENTS, [table, columnNumber])

export const dropViews = (sql: PgClient.PgClient, views: ReadonlyArray<SavedView>) =>
  Effect.forEach(
    views.toReversed(),
    (view) =>
      sql.unsafe(`DROP ${view.kind === "m" ? "MATERIALIZED VIEW" : "VIEW"} ${quoteQualified(view.schema, view.name)}`),
    { discard: true },
  )

/** What its owner's defaults gave to others just now, and may have been taken back from the view that was there. $1: it. */
const GIVEN_BY_DEFAULT = `
SELECT DISTINCT CASE WHEN x.grantee <> 0 THEN pg_get_userbyid(x.grantee)::text END AS role
FROM pg_class c, aclexplode(c.relacl) x WHERE c.oid = $1::text::regclass AND x.grantee <> c.relowner`

/** Our sessions read backslashes as they are (`standard_conforming_strings`). */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Null for everybody. */
const roleOf = (name: string | null): string => (name === null ? "PUBLIC" : quoteName(name))

export const remakeViews = (sql: PgClient.PgClient, views: ReadonlyArray<SavedView>) =>
  Effect.forEach(
    views,
    (view) =>
      Effect.gen(function* () {
        const name = quoteQualified(view.schema, view.name)
        const kind = view.kind === "m" ? "MATERIALIZED VIEW" : "VIEW"
        const options = view.options === null ? "" : ` WITH (${view.options.join(", ")})`
        const data = view.kind === "m" && !view.populated ? " WITH NO DATA" : ""
        // As whoever owns it: what is in it runs when it is filled or indexed, and must not do so with our rights.
        yield* sql.unsafe(`SET LOCAL ROLE ${quoteName(view.owner)}`)
        yield* sql.unsafe(`CREATE ${kind} ${name}${options} AS ${view.definition.trim().replace(/;$/, "")}${data}`)
        for (const index of view.indexes ?? []) yield* sql.unsafe(index)
        if (view.comment !== null) yield* sql.unsafe(`COMMENT ON ${kind} ${name} IS ${literal(view.comment)}`)
        for (const { column, comment } of view.column_comments ?? []) {
          yield* sql.unsafe(`COMMENT ON COLUMN ${name}.${quoteName(column)} IS ${literal(comment)}`)
        }
        for (const reaction of view.reactions ?? []) yield* sql.unsafe(reaction)
        const given = yield* sql.unsafe<{ role: string | null }>(GIVEN_BY_DEFAULT, [name])
        for (const { role } of given) yield* sql.unsafe(`REVOKE ALL ON ${name} FROM ${roleOf(role)}`)
        for (const { grantee, privilege, grantable, column } of view.grants ?? []) {
          const part = column === null ? "" : ` (${quoteName(column)})`
          yield* sql.unsafe(
            `GRANT ${privilege}${part} ON ${name} TO ${roleOf(grantee)}${grantable ? " WITH GRANT OPTION" : ""}`,
          )
        }
        yield* sql.unsafe("RESET ROLE")
      }),
    { discard: true },
  )
