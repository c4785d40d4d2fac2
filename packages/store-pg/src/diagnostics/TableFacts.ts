/** The diagnostics' facts about sources' tables that somebody changed by hand. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

const LOST_TABLES = `
SELECT id::float8 AS "sourceId", name, concat('sources.', table_name) AS "table" FROM cabinet.source
WHERE deleted_at IS NULL AND archived_at IS NULL AND table_name IS NOT NULL AND to_regclass(format('sources.%I', table_name)) IS NULL
ORDER BY id LIMIT 20`

/**
 * Columns whose type stores some values otherwise than they were sent, without an error: rounded, cut, or in another form.
 * Types that refuse such values are left out, since their rows are set aside. A domain counts as its base type.
 */
const INEXACT_COLUMNS = `
SELECT s.id::float8 AS "sourceId", concat('sources.', s.table_name) AS "table", f.name AS "column",
  format_type(a.atttypid, a.atttypmod) AS type, f.type AS expected
FROM cabinet.source s
JOIN cabinet.field_column f ON f.source_id = s.id
JOIN pg_attribute a ON a.attrelid = to_regclass(format('sources.%I', s.table_name)) AND a.attname = f.name AND a.attnum > 0
JOIN pg_type own ON own.oid = a.atttypid
JOIN pg_type t ON t.oid = CASE WHEN own.typtype = 'd' THEN own.typbasetype ELSE own.oid END
CROSS JOIN LATERAL (
  SELECT t.typname::text AS name, CASE WHEN own.typtype = 'd' THEN own.typtypmod ELSE a.atttypmod END AS modifier) stored
WHERE s.deleted_at IS NULL AND s.archived_at IS NULL AND NOT a.attisdropped
  AND (a.atttypid <> f.type::regtype OR a.atttypmod <> -1)
  AND NOT (stored.modifier = -1 AND (stored.name = ANY ('{text,varchar,citext,json,jsonb}') OR stored.name = f.type))
  AND NOT (f.type = 'numeric' AND stored.name = ANY ('{int2,int4,int8}'))
  AND NOT (f.type = 'timestamptz' AND stored.name = 'timestamptz' AND stored.modifier = 6)
  AND NOT (f.type = 'boolean' AND stored.name = 'bool')
  AND NOT (f.type = 'text' AND t.typtype = 'e')
ORDER BY s.id, a.attnum LIMIT 20`

/** Reads only, as `PgDiagnostics` does. */
export const tableFacts = (sql: PgClient.PgClient) =>
  Effect.gen(function* () {
    const lostTables = yield* sql.unsafe<DiagnosticsReport["lostTables"][number]>(LOST_TABLES)
    const inexactColumns = yield* sql.unsafe<DiagnosticsReport["inexactColumns"][number]>(INEXACT_COLUMNS)
    return { lostTables, inexactColumns }
  })
