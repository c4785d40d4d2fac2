/** The statements of a rebuild: what a table consists of, its copy, and what a rebuild keeps about itself. */
import { SEARCH_SCHEMA } from "@data-cabinet/core/row/SearchSql"
import { REBUILD_KIND } from "@data-cabinet/core/row/RebuildStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { IS_OURS } from "./ColumnIndexStatement.ts"
import { SOURCES_SCHEMA } from "./SourceTable.ts"

/** The new table of a source until it takes the old one's place. No reader sees this schema. */
export const newTableOf = (sourceId: number): string => `rebuild_${sourceId}`

/** Its quoted name. */
export const newTable = (sourceId: number): string => quoteQualified("cabinet", newTableOf(sourceId))

/** The quoted name of a source's table. */
export const oldTable = (name: string): string => quoteQualified(SOURCES_SCHEMA, name)

const TRIGGER = "cabinet_rebuild"
const TRUNCATE_TRIGGER = "cabinet_rebuild_emptied"

/** Notes the rows that change from now on. Waits for transactions that have written to the table. */
export const noteChanges = (sourceId: number, table: string): ReadonlyArray<string> => [
  `CREATE TRIGGER ${TRIGGER} AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION cabinet.note_row_change('${sourceId}')`,
  `CREATE TRIGGER ${TRUNCATE_TRIGGER} AFTER TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION cabinet.note_row_change('${sourceId}')`,
]

/** $1: the table. The triggers of a rebuild that it has. */
export const FIND_TRIGGERS = `
SELECT t.tgname::text AS name FROM pg_trigger t WHERE t.tgrelid = to_regclass($1) AND t.tgfoid = 'cabinet.note_row_change'::regproc`

export const dropTrigger = (name: string, table: string): string => `DROP TRIGGER ${quoteName(name)} ON ${table}`

/** $1: the name, $2: the holder, $3: the lease in milliseconds. No row if there is one already. */
export const BEGIN = `
INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id, moved_at, lease, holder, leased_until)
VALUES ('${REBUILD_KIND}', $1::text, 0, 0, 0, cabinet.now(), 1, $2::text, cabinet.now() + $3::int8 * interval '1 ms')
ON CONFLICT (kind, name) DO NOTHING RETURNING id::float8 AS id, lease::float8 AS lease`

/** $1: the source, $2: the follower. A source that does not exist has no state. */
export const BEGIN_STATE = `
INSERT INTO cabinet.table_rebuild (source_id, follower_id, state, step, done, rows, started_at)
SELECT s.id, $2::int8, 'running', 'plan', 0, 0, cabinet.now() FROM cabinet.source s WHERE s.id = $1::int8
ON CONFLICT (source_id) DO UPDATE SET follower_id = excluded.follower_id, state = excluded.state, step = excluded.step,
  done = excluded.done, rows = excluded.rows, code = NULL, message = NULL, result = NULL,
  started_at = excluded.started_at, finished_at = NULL`

/** $1: the source, $2: the follower, $3: the step, $4: rows that are copied, $5: rows. */
export const SAY = `
UPDATE cabinet.table_rebuild SET step = $3::text, done = $4::int8, rows = $5::int8
WHERE source_id = $1::int8 AND follower_id = $2::int8`

/** $1: the source, $2: the follower, $3: the state, $4: the code, $5: the message, $6: the result. */
export const FINISH = `
UPDATE cabinet.table_rebuild SET state = $3::text, code = $4::text, message = $5::text, result = $6::jsonb, finished_at = cabinet.now()
WHERE source_id = $1::int8 AND follower_id = $2::int8 AND state = 'running'`

/** $1: the source, $2: the follower, $3: the indexes that could not be built. */
export const LACKS = `
UPDATE cabinet.table_rebuild SET result = result || jsonb_build_object('indexesMissing', $3::jsonb)
WHERE source_id = $1::int8 AND follower_id = $2::int8`

/** $1: the source. */
export const STATE = `
SELECT r.source_id::float8 AS "sourceId", r.state, r.step, r.done::float8 AS done, r.rows::float8 AS rows, r.code, r.message, r.result,
  cabinet.rfc3339(r.started_at) AS "startedAt", cabinet.rfc3339(r.finished_at) AS "finishedAt",
  EXISTS (SELECT FROM cabinet.follower f WHERE f.id = r.follower_id AND f.leased_until > cabinet.now()) AS held
FROM cabinet.table_rebuild r WHERE r.source_id = $1::int8`

/** $1: the name. One that has ended is not held, even while somebody removes what it has left. */
export const FIND = `
SELECT f.id::float8 AS id, f.lease::float8 AS lease, f.holder, f.leased_until > cabinet.now()
  AND NOT EXISTS (SELECT FROM cabinet.table_rebuild r WHERE r.follower_id = f.id AND r.state <> 'running') AS held
FROM cabinet.follower f WHERE kind = '${REBUILD_KIND}' AND name = $1::text`

/** $1: the follower, $2: its lease. No row if the lease is lost. */
export const HOLD = `SELECT FROM cabinet.follower WHERE id = $1::int8 AND lease = $2::int8 FOR UPDATE`

/** $1: the follower, $2: its lease, $3: milliseconds. */
export const RENEW = `
UPDATE cabinet.follower SET leased_until = cabinet.now() + $3::int8 * interval '1 ms' WHERE id = $1::int8 AND lease = $2::int8 RETURNING 1`

/** $1: the follower, $2: its lease, which nobody has afterwards. No row if it is lost already. */
export const GIVE_UP = `
UPDATE cabinet.follower SET lease = lease + 1, leased_until = cabinet.now()
WHERE id = $1::int8 AND lease = $2::int8 RETURNING lease::float8 AS lease`

/** $1: the follower, $2: the last row that was written. */
export const MOVE = `UPDATE cabinet.follower SET event_id = greatest(event_id, $2::int8), moved_at = cabinet.now() WHERE id = $1::int8`

/** $1: the follower. */
export const END = `DELETE FROM cabinet.follower WHERE id = $1::int8`

/** $1: the source. */
export const FORGET_CHANGES = `DELETE FROM cabinet.table_rebuild_change WHERE source_id = $1::int8`

/** $1: the source, $2: how many. A change that commits later is found later: none is skipped. */
export const TAKE_CHANGES = `
WITH taken AS (
  DELETE FROM cabinet.table_rebuild_change WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM cabinet.table_rebuild_change WHERE source_id = $1::int8 LIMIT $2::int4))
  RETURNING event_id
)
SELECT DISTINCT event_id::text AS id FROM taken`

/** The rows after $1, at most $2 of them. */
export const nextRows = (table: string): string => `
SELECT t._event_id::text AS id FROM ${table} t WHERE t._event_id > $1::int8 ORDER BY t._event_id LIMIT $2::int4`

/** $1: rows. How long their payloads are. */
export const ROW_BYTES = `
SELECT i.id::text AS id, coalesce(e.bytes, 0) AS bytes
FROM unnest($1::int8[]) WITH ORDINALITY i(id, n) LEFT JOIN cabinet.event e ON e.id = i.id ORDER BY i.n`

/** $1: rows. The payloads of those that the table has; null where there is no event to make the row from. */
export const rowPayloads = (table: string): string => `
SELECT t._event_id::text AS id, CASE WHEN e.purged_at IS NULL THEN e.payload::text END AS payload
FROM ${table} t LEFT JOIN cabinet.event e ON e.id = t._event_id WHERE t._event_id = ANY ($1::int8[]) ORDER BY t._event_id`

/** $1: the table, $2: the source. Field columns of the table whose type, default or collation somebody changed by hand, and columns added by hand. */
export const STRANGE_COLUMNS = `
SELECT a.attname::text AS name, f.name IS NULL AS added, format_type(a.atttypid, a.atttypmod) AS type
FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
LEFT JOIN cabinet.field_column f ON f.source_id = $2::int8 AND f.name = a.attname
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT IN ('_event_id', '_received_at')
  AND (f.name IS NULL OR a.atttypid <> f.type::regtype OR a.atttypmod <> -1 OR a.attnotnull OR a.attcollation <> y.typcollation)`

/** $1: the table. */
export const TABLE_KIND = `
SELECT c.relkind::text AS kind, c.relpersistence::text AS persistence, c.relrowsecurity AS policies, c.relreplident::text AS identity,
  c.relhassubclass OR EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid OR h.inhparent = c.oid) AS heirs,
  CASE WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN pg_get_userbyid(c.relowner)::text END AS owner
FROM pg_class c WHERE c.oid = $1::regclass`

/**
 * $1: the table. Everything that would be lost with it, or keeps it from being dropped: triggers, rules, constraints, policies,
 * statistics, defaults, publications, functions. Its indexes, its views and the triggers of a rebuild are not among them.
 */
export const OBJECTS = `
SELECT pg_describe_object(d.classid, d.objid, 0) AS object FROM pg_class c
JOIN pg_type r ON r.oid = c.reltype JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (r.oid, r.typarray)
WHERE c.oid = $1::regclass AND d.deptype = 'n' AND d.classid <> 'pg_rewrite'::regclass
UNION
SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d
WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND d.deptype IN ('n', 'a', 'i', 'x')
  AND NOT (d.classid = 'pg_type'::regclass AND d.deptype = 'i')
  AND NOT (d.classid = 'pg_class'::regclass AND EXISTS (
    SELECT FROM pg_class c WHERE c.oid = d.objid AND (c.relkind = 't' OR c.relkind IN ('i', 'I')
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid))))
  AND NOT (d.classid = 'pg_rewrite'::regclass AND EXISTS (SELECT FROM pg_rewrite r WHERE r.oid = d.objid AND r.ev_class <> $1::regclass))
  AND NOT (d.classid = 'pg_trigger'::regclass AND EXISTS (
    SELECT FROM pg_trigger t WHERE t.oid = d.objid AND t.tgfoid = 'cabinet.note_row_change'::regproc))
  AND NOT (d.classid = 'pg_constraint'::regclass AND EXISTS (
    SELECT FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
    WHERE k.oid = d.objid AND (k.contype = 'p' AND a.attname = '_event_id'
      OR k.contype = 'n' AND a.attname IN ('_event_id', '_received_at'))))
ORDER BY 1 LIMIT 10`

/** $1: the table. Its indexes but that of the primary key; `definition` is what follows the table's name. */
export const INDEXES = `
SELECT k.relname::text AS name, CASE WHEN ${IS_OURS} THEN 'columns' WHEN EXISTS (
    SELECT FROM pg_depend d JOIN pg_proc p ON p.oid = d.refobjid AND d.refclassid = 'pg_proc'::regclass
    WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND p.pronamespace = to_regnamespace('${SEARCH_SCHEMA}')
  ) THEN 'search' END AS made,
  ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum > 0 AND NOT a.attisdropped
    AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum)
    ORDER BY array_position(i.indkey::int2[], a.attnum)) AS columns,
  i.indisunique AS "isUnique", pg_get_indexdef(i.indexrelid) AS definition,
  format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, k.relname, n.nspname, c.relname) AS head
FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indrelid = $1::regclass AND i.indisvalid AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.indexrelid)
ORDER BY k.relname COLLATE "C"`

/** $1: the table. Which columns each of its views reads. */
export const VIEW_COLUMNS = `
SELECT format('%s.%s', n.nspname, v.relname) AS name, array_agg(DISTINCT a.attname::text) AS columns
FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class JOIN pg_namespace n ON n.oid = v.relnamespace
JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND v.oid <> $1::regclass
GROUP BY 1`

/** $1: the table. Roles besides its owner that may write to it: they may not note what they change. */
export const WRITERS = `
SELECT DISTINCT CASE WHEN x.grantee = 0 THEN 'every role' ELSE pg_get_userbyid(x.grantee)::text END AS name
FROM pg_class c CROSS JOIN LATERAL (
  SELECT r.* FROM aclexplode(c.relacl) r
  UNION ALL SELECT r.* FROM pg_attribute a, aclexplode(a.attacl) r WHERE a.attrelid = c.oid
) x
WHERE c.oid = $1::regclass AND x.grantee <> c.relowner AND x.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
ORDER BY 1`

/** $1: oids of views. Those whose owner we cannot act for, so that we could not recreate them. */
export const FOREIGN_VIEWS = `
SELECT v.oid::regclass::text AS name, pg_get_userbyid(v.relowner)::text AS owner FROM pg_class v
WHERE v.oid = ANY ($1::int8[]::oid[])
  AND NOT pg_has_role(v.relowner, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)`

/** $1: the table, $2: the source. */
export const DESCRIBED_COLUMNS = `
SELECT a.attname::text AS name FROM pg_attribute a
LEFT JOIN cabinet.field_column f ON f.source_id = $2::int8 AND f.name = a.attname
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
  AND (a.attacl IS NOT NULL OR f.label IS NOT NULL OR col_description(a.attrelid, a.attnum) IS NOT NULL)`

/** $1: the table's name. */
export const SAVED_VIEWS = `SELECT title, query FROM cabinet.saved_view WHERE schema_name = '${SOURCES_SCHEMA}' AND table_name = $1 ORDER BY id`

/** $1: the table. Its comments, privileges and options, and the names that belong to its primary key. */
export const DESCRIPTION = `
SELECT c.oid::int8 AS oid, obj_description(c.oid, 'pg_class') AS comment, array_to_string(c.reloptions, ', ') AS options,
  (SELECT conname::text FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p') AS key,
  (SELECT json_agg(json_build_object('column', a.attname, 'comment', col_description(c.oid, a.attnum)))
   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NOT NULL) AS comments,
  (SELECT json_agg(json_build_object('grantee', CASE WHEN x.grantee <> 0 THEN pg_get_userbyid(x.grantee) END,
                                     'privilege', x.privilege_type, 'grantable', x.is_grantable, 'column', x.column))
   FROM (SELECT NULL::name AS column, r.* FROM aclexplode(c.relacl) r
         UNION ALL SELECT a.attname, r.* FROM pg_attribute a, aclexplode(a.attacl) r WHERE a.attrelid = c.oid AND NOT a.attisdropped) x
   WHERE x.grantee <> c.relowner) AS grants
FROM pg_class c WHERE c.oid = $1::regclass`

/** $1: the table. The roles that default privileges have given something on it. */
export const GIVEN = `
SELECT DISTINCT CASE WHEN x.grantee <> 0 THEN pg_get_userbyid(x.grantee)::text END AS role
FROM pg_class c, aclexplode(c.relacl) x WHERE c.oid = $1::regclass AND x.grantee <> c.relowner`

/** $1: the source, $2: fields, $3: names, $4: types, $5: whether they were chosen, $6: the old columns. */
export const RECORD_COLUMNS = `
WITH old AS (DELETE FROM cabinet.field_column WHERE source_id = $1::int8 RETURNING *)
INSERT INTO cabinet.field_column (source_id, position, field, name, type, label, type_pinned, created_by_event_id, created_at)
SELECT $1::int8, n.at, n.field, n.name, n.type, o.label, n.pinned, o.created_by_event_id, coalesce(o.created_at, cabinet.now())
FROM unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::text[]) WITH ORDINALITY n(field, name, type, pinned, was, at)
LEFT JOIN old o ON o.name = n.was`

/** $1: the old oid, $2: the new table. Tokens name the tables that they read by oid. */
export const MOVE_TOKENS = `
UPDATE cabinet.access_token SET only_objects = array_replace(only_objects, $1::int8::oid, $2::regclass::oid)
WHERE $1::int8::oid = ANY (only_objects) AND only_in = cabinet.place()`
