/**
 * A source's own table, created with the source. It gets a column when a field first arrives. Columns are only ever added,
 * which rewrites nothing. The wait for the table's lock is bounded, so that a busy table does not delay intake for long.
 */
import type { FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import { MORE_COLUMN, type MissingColumn, nameColumns, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { connectionLossAsError, sqlState } from "../connection/StoreFailure.ts"

export const SOURCES_SCHEMA = "sources"

/** How long one attempt waits for a table's lock, in milliseconds. */
const LOCK_TIMEOUT_MILLIS = 200

/** A source's table, as accepting events needs it. */
export interface SourceTable {
  readonly sourceId: number
  readonly version: number
  /** Whether a follower writes its deliveries. */
  readonly fansOut: boolean
  /** Null once the table has been dropped, by us or by hand. */
  readonly name: string | null
  /** The name of the table that the source should have, but that was dropped, renamed or moved by hand; else null. */
  readonly lost: string | null
  readonly layout: TableLayout
}

/** Why a lost table gets no rows. */
export const lostInWords = (table: string): string =>
  `the table ${SOURCES_SCHEMA}.${table} does not exist: it was dropped, renamed or moved by hand`

/** Creates a table with the columns that every source's table begins with. */
export const createTable = (name: string): string =>
  `CREATE TABLE ${quoteQualified(SOURCES_SCHEMA, name)} (_event_id bigint PRIMARY KEY, _received_at timestamptz NOT NULL)`

/** Loads the current table of a source; undefined if the source does not exist. */
export const loadSourceTable = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
): Effect.fn.Return<SourceTable | undefined, SqlError.SqlError> {
  const [row] = yield* sql<{
    version: number
    fans_out: boolean
    table_name: string | null
    is_there: boolean
    is_live: boolean
    columns: ReadonlyArray<FieldColumn> | null
  }>`
    SELECT s.version, s.fans_out, s.table_name, s.deleted_at IS NULL AS is_live,
      s.table_name IS NOT NULL AND to_regclass(format('sources.%I', s.table_name)) IS NOT NULL AS is_there,
      (SELECT json_agg(json_build_object('field', c.field, 'name', c.name, 'kind', c.type, 'typePinned', c.type_pinned,
        'unrecorded', c.created_by_event_id IS NULL) ORDER BY c.position)
       FROM cabinet.field_column c WHERE c.source_id = s.id) AS columns
    FROM cabinet.source s WHERE s.id = ${sourceId}`
  if (row === undefined) return undefined
  const { version, fans_out: fansOut, table_name: named, is_there: isThere, is_live: isLive, columns } = row
  const name = isThere ? named : null
  const lost = isThere || !isLive ? null : named
  return { sourceId, version, fansOut, name, lost, layout: new TableLayout(columns ?? []) }
})

/** Whether a statement names a table that does not exist. */
export const isMissingTable = (error: SqlError.SqlError): boolean => sqlState(error) === "42P01"

/**
 * Loads a source's table as `loadSourceTable` does, and keeps its columns as they are until the transaction ends, so that
 * statements can be built from what the catalog says. Only changes of the table wait meanwhile.
 */
export const holdSourceTable = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
): Effect.fn.Return<SourceTable | undefined, SqlError.SqlError> {
  for (;;) {
    const table = yield* loadSourceTable(sql, sourceId)
    if (table === undefined || table.name === null) return table
    // Unlike LOCK TABLE, this takes its lock on relations of any kind.
    const lock = sql.unsafe(`SELECT FROM ${quoteQualified(SOURCES_SCHEMA, table.name)} WHERE false`)
    const isHeld = yield* sql.withTransaction(Effect.as(lock, true)).pipe(
      // Dropped since it was loaded.
      Effect.catchIf(isMissingTable, () => Effect.succeed(false)),
    )
    // What was loaded may be older than the lock.
    if (isHeld) return yield* loadSourceTable(sql, sourceId)
  }
})

/**
 * Returns the table with its existing columns, if some were dropped or renamed by hand; undefined if all columns exist, or
 * the table does not.
 */
export const existingColumns = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
): Effect.fn.Return<SourceTable | undefined, SqlError.SqlError> {
  const table = yield* loadSourceTable(sql, sourceId)
  if (table === undefined || table.name === null) return undefined
  const found = yield* sql<{ name: string }>`
    SELECT attname::text AS name FROM pg_attribute
    WHERE attrelid = to_regclass(format('sources.%I', ${table.name}::text)) AND attnum > 0 AND NOT attisdropped`
  const names = new Set(found.map(({ name }) => name))
  const { columns, hasMore } = table.layout
  const more = hasMore ? [{ field: MORE_COLUMN, name: MORE_COLUMN, kind: "jsonb" as const }] : []
  const there = [...columns, ...more].filter(({ name }) => names.has(name))
  return there.length === columns.length + more.length ? undefined : { ...table, layout: new TableLayout(there) }
})

/**
 * Creates the columns that are still missing, unless another process was faster, and returns the resulting table. Fails
 * with the driver's lock timeout if the table could not be locked in time.
 */
export const addColumns = (
  sql: PgClient.PgClient,
  sourceId: number,
  missing: ReadonlyArray<MissingColumn>,
  needsMore: boolean,
): Effect.Effect<SourceTable | undefined, SqlError.SqlError> =>
  connectionLossAsError(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
        yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
        const table = yield* loadSourceTable(sql, sourceId)
        if (table === undefined || table.name === null) return table
        const columns = [...nameColumns(table.layout, missing)]
        const more = needsMore && !table.layout.hasMore
        if (more) columns.push({ field: MORE_COLUMN, name: MORE_COLUMN, kind: "jsonb" })
        if (columns.length === 0) return table
        const clauses = columns.map((column) => `ADD COLUMN ${quoteName(column.name)} ${column.kind}`)
        yield* sql.unsafe(`ALTER TABLE ${quoteQualified(SOURCES_SCHEMA, table.name)} ${clauses.join(", ")}`)
        // Counted from the last column's position, not from the number of columns: some in the middle may have been dropped.
        yield* sql`
          INSERT INTO cabinet.field_column (source_id, position, field, name, type)
          SELECT ${sourceId}, n + coalesce((SELECT max(position) FROM cabinet.field_column WHERE source_id = ${sourceId}), 0),
            field, name, type
          FROM unnest(${columns.map((c) => c.field)}::text[], ${columns.map((c) => c.name)}::text[],
                      ${columns.map((c) => c.kind)}::text[]) WITH ORDINALITY AS t(field, name, type, n)`
        return yield* loadSourceTable(sql, sourceId)
      }),
    ),
  )
