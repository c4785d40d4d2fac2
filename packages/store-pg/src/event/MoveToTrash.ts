/** Moves events to the trash, in the transaction that found and locked them. */
import type { TrashedBy } from "@data-cabinet/core/event/EventListStore"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { isMissingTable, SOURCES_SCHEMA } from "../row/SourceTable.ts"
import { DELETE_DEFERRED_ROWS, DELETE_MARKS, LOCK_SOURCES, MOVE_TO_TRASH } from "./TrashStatement.ts"

/** An event with the table of its source. */
export interface Found {
  readonly id: string
  readonly source_id: string
  readonly table_name: string | null
}

/** Deletes the rows of events, including deferred ones, and their marks in an inbox; returns the events' ids as a parameter. */
export const deleteRows = Effect.fnUntraced(function* (sql: PgClient.PgClient, found: ReadonlyArray<Found>) {
  yield* sql.unsafe(LOCK_SOURCES, [int8Array([...new Set(found.map((row) => BigInt(row.source_id)))])])
  const ids = int8Array(found.map((row) => BigInt(row.id)))
  for (const [table] of Map.groupBy(found, (row) => row.table_name)) {
    if (table === null) continue
    const rows = sql.unsafe(`DELETE FROM ${quoteQualified(SOURCES_SCHEMA, table)} WHERE _event_id = ANY ($1::int8[])`, [
      ids,
    ])
    // A dropped table has no rows.
    yield* Effect.catchIf(sql.withTransaction(rows), isMissingTable, () => Effect.void)
  }
  yield* sql.unsafe(DELETE_DEFERRED_ROWS, [ids])
  yield* sql.unsafe(DELETE_MARKS, [ids])
  return ids
})

/** Returns how many were not in the trash before. */
export const moveToTrash = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  found: ReadonlyArray<Found>,
  by: TrashedBy | null,
): Effect.fn.Return<number, SqlError.SqlError> {
  const ids = yield* deleteRows(sql, found)
  const values = [ids, by?.kind ?? null, by?.id ?? null, by?.name ?? null]
  const [counted] = yield* sql.unsafe<{ moved: number }>(MOVE_TO_TRASH, values)
  return counted!.moved
})
