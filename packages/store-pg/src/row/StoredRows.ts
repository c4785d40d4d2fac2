/**
 * Writes the deferred and the set-aside rows of stored events. A row that cannot be planned, or that the database refuses, is
 * set aside. A row that only lacks columns is written without them.
 */
import { faultInWords } from "@data-cabinet/core/error/Fault"
import { jsonErrorInWords, MAX_JSON_DEPTH, parseJson } from "@data-cabinet/core/json/ParseJson"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { sqlMessage } from "../connection/StoreFailure.ts"
import {
  ensureColumns,
  fixedRow,
  type PlannedRow,
  RowFault,
  rowJson,
  type RowSource,
  ShortRow,
} from "./EnsureColumns.ts"
import { FORGET_SET_ASIDE, SET_ASIDE } from "./SetAsideStatement.ts"
import { existingColumns, loadSourceTable, lostInWords, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"

/** A slice ends after this many bytes of payloads, because a single row may have megabytes. */
export const SLICE_BYTES = 2 * 1_048_576

export interface SliceRow {
  readonly id: string
  readonly payload: string
  /** Whether the slice ends with this row. */
  readonly last: boolean
}

/**
 * Builds a statement that reads row by row, so that it reads no payload beyond the limit. `next` selects the rows; $1: source,
 * $2: the most rows, $3: the most bytes.
 */
export const readSlice = (next: string): string => `
WITH RECURSIVE slice AS (
  SELECT event_id, payload, 1 AS n, octet_length(payload)::int8 AS bytes FROM (${next} ORDER BY w.event_id LIMIT 1) first
  UNION ALL
  SELECT next.event_id, next.payload, slice.n + 1, slice.bytes + octet_length(next.payload)
  FROM slice CROSS JOIN LATERAL (${next} AND w.event_id > slice.event_id ORDER BY w.event_id LIMIT 1) next
  WHERE slice.n < $2 AND slice.bytes < $3
)
SELECT event_id::text AS id, payload, n = $2 OR bytes >= $3 AS last FROM slice ORDER BY n`

const RECORD_CAUSE = `
UPDATE cabinet.field_column SET created_by_event_id = $3::int8 WHERE source_id = $1 AND name = $2 AND created_by_event_id IS NULL`

/** How rows are put into a table. */
export interface PutRows {
  /** Builds the statement; $1: the rows as JSON. It returns the events whose rows the table took. */
  readonly statement: (table: SourceTable) => string
  /** Builds a condition on the event `e` and its row `t`, if any: the table should have taken the row, but did not. */
  readonly isUntaken: string
}

const fieldNames = ({ layout }: SourceTable): ReadonlyArray<string> =>
  [...layout.columns.map((column) => column.name), ...(layout.hasMore ? [MORE_COLUMN] : [])].map(quoteName)

const insertStatement = (table: SourceTable): string => {
  const names = fieldNames(table)
  const target = quoteQualified(SOURCES_SCHEMA, table.name!)
  const filled = names.map((name) => `${name} = coalesce(t.${name}, excluded.${name})`).join(", ")
  return `
INSERT INTO ${target} AS t (${["_event_id", "_received_at", ...names].join(", ")})
SELECT ${["e.id", "e.received_at", ...names.map((name) => `r.${name}`)].join(", ")}
FROM json_populate_recordset(NULL::${target}, $1::json) r JOIN cabinet.event e ON e.id = r._event_id
WHERE e.deleted_at IS NULL AND (
  SELECT c.oid FROM ${target} i JOIN pg_class c ON c.oid = i.tableoid JOIN pg_inherits h ON h.inhrelid = c.oid
  WHERE i._event_id = e.id AND NOT c.relispartition LIMIT 1) IS NULL
ORDER BY e.id
ON CONFLICT (_event_id) DO ${filled === "" ? "NOTHING" : `UPDATE SET ${filled}`} RETURNING _event_id::text AS id`
}

/**
 * Inserts rows. An existing row gets the fields that it lacks, and keeps later changes. A trigger may have put it into another
 * table that inherits from this one. There it stays as it is, and counts as taken.
 */
const insertRows: PutRows = {
  statement: insertStatement,
  isUntaken:
    "t._event_id IS NULL OR EXISTS (SELECT FROM cabinet.row_set_aside a WHERE a.event_id = e.id AND a.partial)",
}

const replaceStatement = (table: SourceTable): string => {
  const target = quoteQualified(SOURCES_SCHEMA, table.name!)
  const set = fieldNames(table).map((name) => `${name} = r.${name}`)
  if (set.length === 0) return `SELECT _event_id::text AS id FROM json_populate_recordset(NULL::${target}, $1::json)`
  return `
UPDATE ${target} t SET ${set.join(", ")}
FROM json_populate_recordset(NULL::${target}, $1::json) r WHERE t._event_id = r._event_id RETURNING t._event_id::text AS id`
}

/** Resets every field of existing rows to the event's value. Other columns stay, and no row is created. */
export const replaceRows: PutRows = { statement: replaceStatement, isUntaken: "t._event_id IS NOT NULL" }

/** $1: the events whose rows the table did not report as taken. */
const untakenRows = ({ isUntaken }: PutRows, table: SourceTable): string => `
SELECT e.id::text AS id, t._event_id IS NOT NULL AS partial
FROM cabinet.event e LEFT JOIN ${quoteQualified(SOURCES_SCHEMA, table.name!)} t ON t._event_id = e.id
WHERE e.id = ANY ($1::int8[]) AND e.deleted_at IS NULL AND (${isUntaken})`

const UNTAKEN = "the table took no row, although it reported no error: a trigger of the table discards it"

/** A stored payload, parsed on first use, so that a fault in parsing counts as a fault in planning its row. */
class StoredPayload implements RowSource {
  readonly text: string
  #payload: JsonObject | undefined
  constructor(text: string) {
    this.text = text
  }
  get payload(): JsonObject {
    return (this.#payload ??= readPayload(this.text))
  }
}

/** Parses a payload. `_value` holds a submitted value one level deeper than it was sent. */
export const readPayload = (text: string): JsonObject => {
  const parsed = parseJson(text, { maxDepth: MAX_JSON_DEPTH + 8 })
  if (Result.isFailure(parsed)) throw new Error(jsonErrorInWords(parsed.failure))
  return parsed.success instanceof Map ? parsed.success : new Map()
}

/** Why a row is set aside. */
interface Reason {
  readonly text: string
  /** True if the database refuses the row; false if the program cannot plan it. */
  readonly refused: boolean
  /** True if the table has the row without some of its fields. */
  readonly partial: boolean
}

const setAside = (sql: PgClient.PgClient, sourceId: number, eventId: string, { text, refused, partial }: Reason) =>
  sql.unsafe(SET_ASIDE, [eventId, sourceId, text, refused, partial])

const reasonOf = (plan: RowFault | ShortRow): Reason =>
  plan instanceof ShortRow
    ? { text: plan.reason, refused: true, partial: true }
    : { text: plan.reason, refused: false, partial: false }

/** The result of writing a slice: the complete rows, and how many were set aside. */
export interface WrittenRows {
  readonly complete: ReadonlyArray<string>
  readonly setAside: number
}

/** Writes rows in a transaction that has locked the source's row. Fails if the database refuses any of them. */
export const writeStoredRows = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
  slice: ReadonlyArray<Pick<SliceRow, "id" | "payload">>,
  put: PutRows = insertRows,
): Effect.fn.Return<WrittenRows, SqlError.SqlError> {
  const ids = slice.map(({ id }) => id)
  const table = yield* loadSourceTable(sql, sourceId)
  if (slice.length === 0 || table === undefined) return { complete: ids, setAside: 0 }
  if (table.name === null) {
    // A change of existing rows has none to change.
    if (table.lost === null || put === replaceRows) return { complete: ids, setAside: 0 }
    const reason = { text: lostInWords(table.lost), refused: true, partial: false }
    for (const id of ids) yield* setAside(sql, sourceId, id, reason)
    return { complete: [], setAside: ids.length }
  }
  const fitted = yield* ensureColumns(
    sql,
    table,
    slice.map(({ payload }) => new StoredPayload(payload)),
  )
  if (fitted === undefined) return { complete: ids, setAside: 0 }
  return yield* writePlanned(sql, { table: fitted.table, ids, plans: fitted.plans, put })
})

interface PlannedRows {
  readonly table: SourceTable
  readonly ids: ReadonlyArray<string>
  readonly plans: ReadonlyArray<PlannedRow>
  readonly put: PutRows
}

const writePlanned = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { table, ids, plans, put }: PlannedRows,
): Effect.fn.Return<WrittenRows, SqlError.SqlError> {
  const { sourceId } = table
  const rows: Array<string> = []
  /** The events of `rows`. */
  const written: Array<string> = []
  const aside = new Map<string, Reason>()
  const causes = new Map<string, string>()
  for (const [index, plan] of plans.entries()) {
    const id = ids[index]!
    if (plan instanceof RowFault || plan instanceof ShortRow) aside.set(id, reasonOf(plan))
    if (plan instanceof RowFault) continue
    const fitting = plan instanceof ShortRow ? plan.plan : plan
    rows.push(rowJson(fitting, id))
    written.push(id)
    for (const column of fitting.unrecorded) if (!causes.has(column)) causes.set(column, id)
  }
  if (rows.length > 0) {
    const taken = yield* sql.unsafe<{ id: string }>(put.statement(table), [`[${rows.join(",")}]`])
    if (taken.length < rows.length) {
      const known = new Set(taken.map(({ id }) => id))
      const others = int8Array(written.filter((id) => !known.has(id)).map(BigInt))
      const untaken = yield* sql.unsafe<{ id: string; partial: boolean }>(untakenRows(put, table), [others])
      for (const { id, partial } of untaken) aside.set(id, { text: UNTAKEN, refused: true, partial })
    }
  }
  for (const [id, reason] of aside) yield* setAside(sql, sourceId, id, reason)
  for (const [column, id] of causes) yield* sql.unsafe(RECORD_CAUSE, [sourceId, column, id])
  return { complete: ids.filter((id) => !aside.has(id)), setAside: aside.size }
})

/**
 * Sets aside a row that fails even alone, and returns whether it did. If its table has lost columns, the row is written with
 * the remaining ones, which may be all it needs.
 */
export const setRefusedAside = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
  { id, payload }: Pick<SliceRow, "id" | "payload">,
  fault: unknown,
  put: PutRows = insertRows,
): Effect.fn.Return<boolean, SqlError.SqlError> {
  const refused = SqlError.isSqlError(fault)
  const text = refused ? sqlMessage(fault) : faultInWords(fault)
  const table = refused ? yield* existingColumns(sql, sourceId) : undefined
  if (table !== undefined) {
    const plans = [fixedRow(table.layout, new StoredPayload(payload), text)]
    const written = yield* Effect.result(sql.withTransaction(writePlanned(sql, { table, ids: [id], plans, put })))
    if (Result.isSuccess(written)) return written.success.setAside > 0
  }
  yield* setAside(sql, sourceId, id, { text, refused, partial: false })
  return true
})

/** Removes these events from the list of rows set aside. */
export const forgetSetAside = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) =>
  sql.unsafe(FORGET_SET_ASIDE, [int8Array(ids.map(BigInt))])
