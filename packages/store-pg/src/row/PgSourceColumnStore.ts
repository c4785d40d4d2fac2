/** Relabels, retypes and drops the columns of sources' tables in PostgreSQL. */
import { SourceColumnStore } from "@data-cabinet/core/row/SourceColumnStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Semaphore } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import type { Ask } from "../connection/SessionEnd.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { dropColumns, singleDrop } from "./DropColumns.ts"
import { patiently } from "./PatientSession.ts"
import { Retype } from "./Retype.ts"
import { tryRetype } from "./RetypeTrial.ts"
import { COLUMN, type ColumnRow, toColumn } from "./ColumnRow.ts"
import { loadSourceTable } from "./SourceTable.ts"

/** How long recreating views may take: their code runs while the source's table is locked. */
const VIEWS_TIMEOUT_MILLIS = 30_000

/** A trial scans a table for seconds, so all trials share one session. */
const MAX_CONCURRENT_TRIALS = 1

const make = (viewsTimeoutMillis: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const scope = yield* Effect.scope
    const context = yield* Effect.context()
    const statements = yield* StatementClient
    const ask: Ask = (statement, values) => statements.values(statement, values)
    const trials = yield* Semaphore.make(MAX_CONCURRENT_TRIALS)
    const readColumn = (sourceId: number, name: string) =>
      Effect.map(
        sql.unsafe<ColumnRow>(`SELECT ${COLUMN} FROM cabinet.field_column c WHERE c.source_id = $1 AND c.name = $2`, [
          sourceId,
          name,
        ]),
        (rows) => toColumn(rows[0]!),
      )

    return SourceColumnStore.of({
      list: Effect.fnUntraced(function* (sourceId) {
        const table = yield* loadSourceTable(sql, sourceId)
        if (table === undefined) return Option.none()
        const rows = yield* sql.unsafe<ColumnRow>(
          `SELECT ${COLUMN} FROM cabinet.field_column c WHERE c.source_id = $1 ORDER BY c.position`,
          [sourceId],
        )
        return Option.some({ table: table.name, columns: rows.map(toColumn) })
      }, orUnavailable),
      relabel: (sourceId, column, label) =>
        sql
          .unsafe<ColumnRow>(
            `UPDATE cabinet.field_column c SET label = $3 WHERE c.source_id = $1 AND c.name = $2 RETURNING ${COLUMN}`,
            [sourceId, column, label],
          )
          .pipe(
            Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toColumn)),
            orUnavailable,
          ),
      retype: (sourceId, name, to, decide) =>
        Effect.suspend(() => {
          const own = { ask, context, viewsTimeoutMillis, readColumn: readColumn(sourceId, name) }
          return new Retype(sql, { sourceId, name, to, decide, ...own }).run(scope)
        }),
      drop: (sourceId, name, decide) =>
        patiently(Effect.map(dropColumns(sql, singleDrop(sourceId, name, decide)), ([column]) => column!)),
      tryRetype: (sourceId, name, to, decide) => trials.withPermits(1)(tryRetype(sql, { sourceId, name, to, decide })),
    })
  })

/** `viewsTimeoutMillis`: how long recreating all views may take in total. */
export const layerWith = (viewsTimeoutMillis: number) => Layer.effect(SourceColumnStore, make(viewsTimeoutMillis))

export const layer = layerWith(VIEWS_TIMEOUT_MILLIS)
