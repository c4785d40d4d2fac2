/**
 * Writes the rows that were deferred because their table was locked, or could not get a new column in time, while their
 * events were accepted. It proceeds source by source in the order of the events, in one process at a time; later rows of
 * a source queue behind until none is left. A row that cannot be planned is set aside, so that those behind it continue:
 * `doctor` names it, and the next process that starts tries it again.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { faultInWords, faultName } from "@data-cabinet/core/error/Fault"
import { jsonErrorInWords, MAX_JSON_DEPTH, parseJson } from "@data-cabinet/core/json/ParseJson"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Layer, Result } from "effect"
import { SqlError } from "effect/sql"
import { int8Array } from "../connection/ArrayParameter.ts"
import { isUnavailable, isConflict, connectionLossAsError, sqlMessage } from "../connection/StoreFailure.ts"
import { ensureColumns, RowFault, rowJson, type RowSource } from "./EnsureColumns.ts"
import { RETRY_SET_ASIDE, SET_ASIDE } from "./SetAsideStatement.ts"
import { loadSourceTable, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"

/** Rows written under one lock of the source. */
const DRAIN_BATCH = 500

/** Bytes of payloads after which no further one is read: a single row may have megabytes. */
const DRAIN_BYTES = 2 * 1_048_576

/**
 * A flag may have been cleared while an accept that still saw it was in flight, or could not be set because the source's row is
 * locked, as it is while a column is retyped: such rows are found on their own, once that lock is released.
 */
const FIND_SOURCES = `
WITH strays AS (
  UPDATE cabinet.source SET rows_deferred = true
  WHERE id IN (
    SELECT s.id FROM cabinet.source s
    WHERE NOT s.rows_deferred AND s.id IN (SELECT source_id FROM cabinet.deferred_row) FOR NO KEY UPDATE SKIP LOCKED
  ) RETURNING id
)
SELECT id::text AS id FROM cabinet.source WHERE rows_deferred UNION SELECT id::text FROM strays`

const NEXT = `
  SELECT w.event_id, e.payload::text AS payload FROM cabinet.deferred_row w JOIN cabinet.event e ON e.id = w.event_id
  WHERE w.source_id = $1`

/** Reads row by row, so that no payload beyond the bound is read. */
const READ_SLICE = `
WITH RECURSIVE slice AS (
  SELECT event_id, payload, 1 AS n, octet_length(payload)::int8 AS bytes FROM (${NEXT} ORDER BY w.event_id LIMIT 1) first
  UNION ALL
  SELECT next.event_id, next.payload, slice.n + 1, slice.bytes + octet_length(next.payload)
  FROM slice CROSS JOIN LATERAL (${NEXT} AND w.event_id > slice.event_id ORDER BY w.event_id LIMIT 1) next
  WHERE slice.n < $2 AND slice.bytes < $3
)
SELECT event_id::text AS id, payload, n = $2 OR bytes >= $3 AS last FROM slice ORDER BY n`

const RECORD_CAUSE = `
UPDATE cabinet.field_column SET created_by_event_id = $3::int8 WHERE source_id = $1 AND name = $2 AND created_by_event_id IS NULL`

const insertRows = (table: SourceTable): string => {
  const columns = [...table.layout.columns.map((column) => column.name), ...(table.layout.hasMore ? [MORE_COLUMN] : [])]
  const names = columns.map(quoteName)
  const target = quoteQualified(SOURCES_SCHEMA, table.name!)
  return `
INSERT INTO ${target} (${["_event_id", "_received_at", ...names].join(", ")})
SELECT ${["e.id", "e.received_at", ...names.map((name) => `r.${name}`)].join(", ")}
FROM json_populate_recordset(NULL::${target}, $1::json) r JOIN cabinet.event e ON e.id = r._event_id
WHERE e.deleted_at IS NULL ORDER BY e.id
ON CONFLICT (_event_id) DO NOTHING`
}

/** For values that PostgreSQL rejects even one by one: the row at least says which event it came from. */
const insertBareRow = (table: SourceTable): string => `
INSERT INTO ${quoteQualified(SOURCES_SCHEMA, table.name!)} (_event_id, _received_at)
SELECT id, received_at FROM cabinet.event WHERE id = $1::int8 AND deleted_at IS NULL ON CONFLICT (_event_id) DO NOTHING`

/** A stored payload, parsed on first use: a fault in parsing is thereby a fault of planning its row. */
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

/** `_value` holds a submitted value one level deeper than it was sent. */
const readPayload = (text: string): JsonObject => {
  const parsed = parseJson(text, { maxDepth: MAX_JSON_DEPTH + 8 })
  if (Result.isFailure(parsed)) throw new Error(jsonErrorInWords(parsed.failure))
  return parsed.success instanceof Map ? parsed.success : new Map()
}

interface SliceRow {
  readonly id: string
  readonly payload: string
  /** No more rows are read after this one. */
  readonly last: boolean
}

/** Writes the next rows of a source; returns whether more may follow at once. */
const drainBatch = (sql: PgClient.PgClient, sourceId: number, size: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = 200`
      const [mine] = yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE SKIP LOCKED`
      if (mine === undefined) return false
      const table = yield* loadSourceTable(sql, sourceId)
      const slice = yield* sql.unsafe<SliceRow>(READ_SLICE, [sourceId, size, DRAIN_BYTES])
      // Whether the bound ended the batch, rather than the end of the rows.
      const isBounded = slice.at(-1)?.last === true
      if (slice.length > 0 && table !== undefined && table.name !== null) {
        const events = slice.map(({ payload }) => new StoredPayload(payload))
        const fitted = yield* ensureColumns(sql, table, events)
        if (fitted !== undefined) {
          const { table: fittedTable, plans } = fitted
          const rows: Array<string> = []
          const causes = new Map<string, string>()
          for (const [index, plan] of plans.entries()) {
            const { id } = slice[index]!
            if (plan instanceof RowFault) {
              yield* setAside(sql, sourceId, id, plan.reason)
              continue
            }
            rows.push(rowJson(plan, id))
            for (const column of plan.unrecorded) if (!causes.has(column)) causes.set(column, id)
          }
          if (rows.length > 0) yield* sql.unsafe(insertRows(fittedTable), [`[${rows.join(",")}]`])
          for (const [column, id] of causes) yield* sql.unsafe(RECORD_CAUSE, [sourceId, column, id])
        }
      }
      yield* forget(sql, slice)
      if (!isBounded) yield* sql`UPDATE cabinet.source SET rows_deferred = false WHERE id = ${sourceId}`
      return isBounded
    }),
  )

const forget = (sql: PgClient.PgClient, slice: ReadonlyArray<{ id: string }>) =>
  sql`DELETE FROM cabinet.deferred_row WHERE event_id = ANY (${int8Array(slice.map((row) => BigInt(row.id)))}::int8[])`

/** Stores the reason with the event. The log names only the event, because a fault's message may quote the submission. */
const setAside = (sql: PgClient.PgClient, sourceId: number, eventId: string, reason: string) =>
  Effect.andThen(
    sql.unsafe(SET_ASIDE, [eventId, sourceId, reason]),
    Effect.logError(
      `the row of event ${eventId} cannot be planned and is set aside; the event itself is complete: cabinet doctor shows the reason`,
    ),
  )

/** Sets aside the one row that causes a fault in the program's own work but was not recognized as unplannable. */
const setFirstAside = (sql: PgClient.PgClient, sourceId: number, fault: unknown) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const slice = yield* sql<{ id: string }>`
        SELECT event_id::text AS id FROM cabinet.deferred_row WHERE source_id = ${sourceId} ORDER BY event_id LIMIT 1`
      if (slice[0] === undefined) return
      yield* setAside(sql, sourceId, slice[0].id, faultInWords(fault))
      yield* forget(sql, slice)
    }),
  )

/** Writes the one row that PostgreSQL rejects without its fields, so that those behind it need not wait forever. */
const putBare = (sql: PgClient.PgClient, sourceId: number, error: SqlError.SqlError) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const table = yield* loadSourceTable(sql, sourceId)
      const slice = yield* sql.unsafe<SliceRow>(READ_SLICE, [sourceId, 1, DRAIN_BYTES])
      const [row] = slice
      if (row === undefined || table === undefined) return
      if (table.name !== null) yield* sql.unsafe(insertBareRow(table), [row.id])
      yield* forget(sql, slice)
      // Logged without the error's details, which quote the row.
      yield* Effect.logError(
        `the fields of event ${row.id} cannot be written to the table; the event itself is complete: ${sqlMessage(error)}`,
      )
    }),
  )

/**
 * Writes all rows of a source, batch by batch; after a batch fails, one by one until the row at fault is out of the way.
 */
const drain = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  sourceId: number,
): Effect.fn.Return<void, SqlError.SqlError> {
  let size = DRAIN_BATCH
  while (true) {
    const exit = yield* Effect.exit(connectionLossAsError(drainBatch(sql, sourceId, size)))
    if (Exit.isSuccess(exit)) {
      if (!exit.value) return
      continue
    }
    if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause)
    const fault = Cause.squash(exit.cause)
    const isSql = SqlError.isSqlError(fault)
    if (isSql && (isUnavailable(fault) || isConflict(fault))) return yield* Effect.failCause(exit.cause)
    if (size === 1) {
      yield* connectionLossAsError(isSql ? putBare(sql, sourceId, fault) : setFirstAside(sql, sourceId, fault))
    }
    size = size === 1 ? DRAIN_BATCH : 1
  }
})

/** One round over all sources with deferred rows. A source that is still locked is tried again in the next round. */
export const drainDeferredRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sources = yield* sql.unsafe<{ id: string }>(FIND_SOURCES)
  yield* Effect.forEach(
    sources,
    ({ id }) =>
      drain(sql, Number(id)).pipe(
        Effect.catchCause((cause) => {
          if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
          // A source whose rows could not even be set aside must not block the others.
          return Cause.hasDies(cause)
            ? Effect.logError(`rows of source ${id} are still deferred, by a fault: ${faultName(Cause.squash(cause))}`)
            : Effect.logDebug(`rows of source ${id} are still deferred`, cause)
        }),
      ),
    { discard: true },
  )
})

/** Runs every second in every process that accepts or works. On start, rows that were set aside are tried again. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* Effect.ignoreCause(connectionLossAsError(sql.unsafe(RETRY_SET_ASIDE)))
    // An unavailable database is reported by everything that needs it.
    yield* background("deferred row drain", "1 second", drainDeferredRows, { quiet: true })
  }).pipe(Effect.forkScoped),
)
