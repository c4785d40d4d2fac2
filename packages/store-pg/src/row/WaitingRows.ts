/**
 * Puts in the rows that had to wait: their table was locked, or could not get a new column in time, while their events
 * were accepted. Source by source and in the order of the events, by one process at a time; later rows of a source queue
 * behind until none is left.
 */
import { MAX_JSON_DEPTH, parseJson } from "@data-cabinet/core/intake/JsonBody"
import type { JsonObject } from "@data-cabinet/core/event/Json"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Result, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/ArrayParameter.ts"
import { isAway, isInTheWay, lossAsFailure, sqlMessage } from "../connection/StoreFailure.ts"
import { fittedRows, rowJson } from "./FittedRows.ts"
import { loadSourceTable, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"

/** Rows put in under one lock of the source. */
const BITE = 500

/** A flag was cleared while an accept that still saw it was under way: its rows are found by themselves. */
const FIND_SOURCES = `
WITH strays AS (
  UPDATE cabinet.source SET rows_waiting = true
  WHERE NOT rows_waiting AND id IN (SELECT source_id FROM cabinet.waiting_row) RETURNING id
)
SELECT id::text AS id FROM cabinet.source WHERE rows_waiting UNION SELECT id::text FROM strays`

const READ_BITE = `
SELECT w.event_id::text AS id, e.payload::text AS payload
FROM cabinet.waiting_row w JOIN cabinet.event e ON e.id = w.event_id
WHERE w.source_id = $1 ORDER BY w.event_id LIMIT $2`

const RECORD_CAUSE = `
UPDATE cabinet.field_column SET event_id = $3::int8 WHERE source_id = $1 AND name = $2 AND event_id IS NULL`

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

/** Values that PostgreSQL would not take even one by one: the row says at least which event it came from. */
const insertBareRow = (table: SourceTable): string => `
INSERT INTO ${quoteQualified(SOURCES_SCHEMA, table.name!)} (_event_id, _received_at)
SELECT id, received_at FROM cabinet.event WHERE id = $1::int8 AND deleted_at IS NULL ON CONFLICT (_event_id) DO NOTHING`

/** A stored payload read back: `_value` holds a sent value one level deeper than it was sent. */
const readPayload = (text: string): JsonObject => {
  const value = Result.getOrThrow(parseJson(text, { maxDepth: MAX_JSON_DEPTH + 8 }))
  return value instanceof Map ? value : new Map()
}

/** Puts in the next rows of a source; answers whether more may follow at once. */
const drainBite = (sql: PgClient.PgClient, sourceId: number, size: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL lock_timeout = 200`
      const [mine] = yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE SKIP LOCKED`
      if (mine === undefined) return false
      const table = yield* loadSourceTable(sql, sourceId)
      const bite = yield* sql.unsafe<{ id: string; payload: string }>(READ_BITE, [sourceId, size])
      if (bite.length > 0 && table !== undefined && table.name !== null) {
        const events = bite.map(({ payload }) => ({ payload: readPayload(payload), text: payload }))
        const fitted = yield* fittedRows(sql, table, events)
        if (fitted !== undefined) {
          const { table, plans } = fitted
          const rows = plans.map((plan, index) => rowJson(plan, bite[index]!.id))
          yield* sql.unsafe(insertRows(table), [`[${rows.join(",")}]`])
          for (const column of table.layout.unrecorded) {
            const cause = bite[plans.findIndex((plan) => plan.unrecorded.includes(column))]
            if (cause !== undefined) yield* sql.unsafe(RECORD_CAUSE, [sourceId, column, cause.id])
          }
        }
      }
      yield* forget(sql, bite)
      if (bite.length < size) yield* sql`UPDATE cabinet.source SET rows_waiting = false WHERE id = ${sourceId}`
      return bite.length === size
    }),
  )

const forget = (sql: PgClient.PgClient, bite: ReadonlyArray<{ id: string }>) =>
  sql`DELETE FROM cabinet.waiting_row WHERE event_id = ANY (${int8Array(bite.map((row) => BigInt(row.id)))}::int8[])`

/** The one row that fails by itself is put in bare, so that those behind it need not wait for ever. */
const putBare = (sql: PgClient.PgClient, sourceId: number, error: SqlError.SqlError) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const table = yield* loadSourceTable(sql, sourceId)
      const bite = yield* sql.unsafe<{ id: string; payload: string }>(READ_BITE, [sourceId, 1])
      const [row] = bite
      if (row === undefined || table === undefined) return
      if (table.name !== null) yield* sql.unsafe(insertBareRow(table), [row.id])
      yield* forget(sql, bite)
      // Without the error's details, which quote the row.
      yield* Effect.logError(
        `the fields of event ${row.id} could not be put into its table, the event itself is whole: ${sqlMessage(error)}`,
      )
    }),
  )

const drain = (sql: PgClient.PgClient, sourceId: number, size = BITE): Effect.Effect<void, SqlError.SqlError> =>
  lossAsFailure(drainBite(sql, sourceId, size)).pipe(
    Effect.flatMap((more) => (more ? drain(sql, sourceId, size === 1 ? 1 : BITE) : Effect.void)),
    Effect.catch((error) => {
      if (isAway(error) || isInTheWay(error)) return Effect.fail(error)
      if (size > 1) return drain(sql, sourceId, 1)
      return Effect.andThen(
        lossAsFailure(putBare(sql, sourceId, error)),
        Effect.suspend(() => drain(sql, sourceId)),
      )
    }),
  )

/** One round over all sources whose rows wait. A source that is still locked is tried again by the next round. */
export const drainWaitingRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sources = yield* sql.unsafe<{ id: string }>(FIND_SOURCES)
  yield* Effect.forEach(
    sources,
    ({ id }) =>
      drain(sql, Number(id)).pipe(Effect.catch((error) => Effect.logDebug(`rows of source ${id} still wait`, error))),
    { discard: true },
  )
})

/** Looks every second, in every process that accepts or works. */
export const layer = Layer.effectDiscard(
  drainWaitingRows.pipe(
    Effect.catchCause((cause) => Effect.logDebug("waiting rows could not be looked at", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped,
  ),
)
