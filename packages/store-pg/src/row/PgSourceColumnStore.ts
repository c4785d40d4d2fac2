/** The columns of sources' tables in PostgreSQL: relabelled, and changed to another type as decided. */
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import {
  NotRetyped,
  type RetypeDecisions,
  type SourceColumn,
  SourceColumnStore,
} from "@data-cabinet/core/row/SourceColumnStore"
import { EXACT_FORMAT } from "@data-cabinet/core/row/ExactFormat"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer, Option } from "effect"
import { SqlError } from "effect/sql"
import { isUnavailable, orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { int8Array } from "../connection/ArrayParameter.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { dependentViews, dropViews, findObstacle, remakeViews } from "./DependentViews.ts"
import { loadSourceTable, SOURCES_SCHEMA } from "./SourceTable.ts"

interface ColumnRow {
  readonly name: string
  readonly field: string
  readonly label: string
  readonly type: ColumnKind
  readonly event_id: string | null
  readonly created_at: string
}

const COLUMNS = `c.name, c.field, coalesce(c.label, c.field) AS label, c.type, c.created_by_event_id::text AS event_id,
  cabinet.rfc3339(c.created_at) AS created_at`

const toColumn = (row: ColumnRow): SourceColumn => ({
  name: row.name,
  field: row.field,
  label: row.label,
  type: row.type,
  eventId: row.event_id === null ? null : Number(row.event_id),
  createdAt: row.created_at,
})

/** The condition under which a column's text converts to another type, and the expression that converts it. */
const conversion = (column: string, from: ColumnKind, to: ColumnKind) => {
  const text = from === "jsonb" ? `(${column} #>> '{}')` : `${column}::text`
  if (to === "text") return { fits: "true", value: from === "timestamptz" ? `to_json(${column}) #>> '{}'` : text }
  if (to === "jsonb") return { fits: "true", value: `to_jsonb(${column})` }
  const pattern = EXACT_FORMAT[to]
  const spelt = `${from === "jsonb" ? `jsonb_typeof(${column}) <> 'object' AND jsonb_typeof(${column}) <> 'array' AND ` : ""}${text} ~ '${pattern}'`
  // A day that the calendar lacks is spelled like any other, so it is compared with the last day of its month, which
  // cannot fail.
  const lastDay = `extract(day FROM (left(${text}, 8) || '01')::date + interval '1 month -1 day')`
  const isDay = `CASE WHEN ${spelt} THEN substr(${text}, 9, 2)::int <= ${lastDay} ELSE false END`
  const fits = to === "date" || to === "timestamptz" ? isDay : spelt
  return { fits, value: `${text}::${to}` }
}

/** How long to wait for a lock, in milliseconds: for the table's, and for those of all views together. */
const LOCK_TIMEOUT_MILLIS = 3_000

/** How long recreating views may take: it runs their code while the source's table is locked. */
const VIEWS_TIMEOUT_MILLIS = 30_000

/** Code can catch the cancellation of its statement, but not the end of its session, which follows this much later. */
const END_AFTER_MILLIS = 2_000

/** Whether the session of a transaction was terminated. */
interface OverTime {
  isEnded: boolean
}

const isSlow = (error: SqlError.SqlError): boolean => sqlState(error) === "57014"

const isLockTimeout = (error: SqlError.SqlError): boolean => sqlState(error) === "55P03"

const busy = () => new NotRetyped({ fact: { is: "busy", seconds: LOCK_TIMEOUT_MILLIS / 1000 } })

/** A view written for the old type may not work with the new one; the transaction is then rolled back. */
const viewFailed = (error: SqlError.SqlError) =>
  isUnavailable(error) || isLockTimeout(error)
    ? error
    : new NotRetyped({ fact: { is: "view_failed", detail: sqlMessage(error) } })

const make = (viewsTimeoutMillis: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const rowOf = (sourceId: number, name: string) =>
      sql
        .unsafe<ColumnRow>(`SELECT ${COLUMNS} FROM cabinet.field_column c WHERE c.source_id = $1 AND c.name = $2`, [
          sourceId,
          name,
        ])
        .pipe(Effect.map((rows) => toColumn(rows[0]!)))

    /** Terminates the session of the calling transaction, from another session, unless `work` finishes in time. */
    const within = <A, E>(overTime: OverTime, work: Effect.Effect<A, E>) =>
      Effect.flatMap(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([session]) =>
        Effect.acquireUseRelease(
          Effect.sync(() =>
            // Started on its own, so that it runs outside the transaction.
            Effect.runFork(
              Effect.sleep(viewsTimeoutMillis + END_AFTER_MILLIS).pipe(
                Effect.andThen(Effect.sync(() => void (overTime.isEnded = true))),
                Effect.andThen(sql.unsafe("SELECT pg_terminate_backend($1::int4)", [session!.pid])),
              ),
            ),
          ),
          () => work,
          Fiber.interrupt,
        ),
      )

    const tooSlow = () => new NotRetyped({ fact: { is: "slow", seconds: viewsTimeoutMillis / 1000 } })

    const retype = Effect.fnUntraced(function* <E>(
      sourceId: number,
      name: string,
      type: ColumnKind,
      decide: RetypeDecisions<E>,
      overTime: OverTime,
    ) {
      yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
      const table = yield* loadSourceTable(sql, sourceId)
      const column = yield* Effect.fromResult(decide.column(table))
      if (column === null) return { column: yield* rowOf(sourceId, name), moved: 0, sibling: null, views: [] }
      const { layout } = table!
      const target = quoteQualified(SOURCES_SCHEMA, table!.name!)
      yield* sql.unsafe(`LOCK TABLE ${target} IN ACCESS EXCLUSIVE MODE`)
      const [attribute] = yield* sql<{ number: number }>`
        SELECT attnum::int4 AS number FROM pg_attribute WHERE attrelid = ${target}::text::regclass AND attname = ${name}`
      const views = yield* dependentViews(sql, target, attribute!.number)
      const names = views.map((view) => `${view.schema}.${view.name}`)
      const obstacle = yield* findObstacle(sql, views)
      const objects = yield* columnDependents(sql, target, attribute!.number, int8Array(views.map(({ oid }) => oid)))
      yield* Effect.fromResult(decide.dependents({ views: names, obstacle, objects }))
      yield* Effect.mapError(dropViews(sql, views, LOCK_TIMEOUT_MILLIS), viewFailed)
      const quoted = quoteName(name)
      const { fits, value } = conversion(quoted, column.kind, type)
      const [misfits] = yield* sql.unsafe<{ n: number }>(
        `SELECT count(*)::int4 AS n FROM ${target} WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
      )
      const moved = misfits!.n
      const sibling = moved > 0 ? decide.sibling(layout, column) : null
      if (sibling !== null) {
        if (sibling.isNew) {
          yield* sql.unsafe(`ALTER TABLE ${target} ADD COLUMN ${quoteName(sibling.name)} text`)
          yield* sql`
            INSERT INTO cabinet.field_column (source_id, position, field, name, type)
            SELECT ${sourceId}, max(position) + 1, ${column.field}, ${sibling.name}, 'text'
            FROM cabinet.field_column WHERE source_id = ${sourceId}`
        }
        yield* sql.unsafe(
          `UPDATE ${target} SET ${quoteName(sibling.name)} = ${quoted}::text WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
        )
      }
      yield* Effect.mapError(
        sql.unsafe(
          `ALTER TABLE ${target} ALTER COLUMN ${quoted} TYPE ${type} USING CASE WHEN ${fits} THEN ${value} END`,
        ),
        // A dependency of a kind that is not looked for, or one that appeared just now.
        (error) =>
          isUnavailable(error) || isLockTimeout(error)
            ? error
            : new NotRetyped({ fact: { is: "depended_on", detail: sqlMessage(error) } }),
      )
      yield* sql`
        UPDATE cabinet.field_column SET type = ${type}, type_pinned = true WHERE source_id = ${sourceId} AND name = ${name}`
      // Invalidates submissions planned for the previous table.
      yield* sql`UPDATE cabinet.source SET table_name = table_name WHERE id = ${sourceId}`
      if (views.length > 0) {
        yield* sql.unsafe(`SET LOCAL statement_timeout = ${viewsTimeoutMillis}`)
        yield* Effect.mapError(within(overTime, remakeViews(sql, views)), (error) =>
          isSlow(error) ? tooSlow() : viewFailed(error),
        )
        yield* sql`SET LOCAL statement_timeout = 0`
      }
      return { column: yield* rowOf(sourceId, name), moved, sibling: sibling?.name ?? null, views: names }
    })

    return SourceColumnStore.of({
      list: Effect.fnUntraced(function* (sourceId) {
        const table = yield* loadSourceTable(sql, sourceId)
        if (table === undefined) return Option.none()
        const rows = yield* sql.unsafe<ColumnRow>(
          `SELECT ${COLUMNS} FROM cabinet.field_column c WHERE c.source_id = $1 ORDER BY c.position`,
          [sourceId],
        )
        return Option.some({ table: table.name, columns: rows.map(toColumn) })
      }, orUnavailable),
      relabel: (sourceId, column, label) =>
        sql
          .unsafe<ColumnRow>(
            `UPDATE cabinet.field_column c SET label = $3 WHERE c.source_id = $1 AND c.name = $2 RETURNING ${COLUMNS}`,
            [sourceId, column, label],
          )
          .pipe(
            Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toColumn)),
            orUnavailable,
          ),
      retype: Effect.fnUntraced(function* (sourceId, column, type, decide) {
        const overTime: OverTime = { isEnded: false }
        return yield* sql.withTransaction(retype(sourceId, column, type, decide, overTime)).pipe(
          Effect.catchCause((cause) => (overTime.isEnded ? Effect.fail(tooSlow()) : Effect.failCause(cause))),
          Effect.mapError((error) => (SqlError.isSqlError(error) && isLockTimeout(error) ? busy() : error)),
          // A large table is rewritten, without a time limit.
          Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))),
        )
      }),
    })
  })

/** `viewsTimeoutMillis`: how long recreating all views may take in total. */
export const layerWith = (viewsTimeoutMillis: number) => Layer.effect(SourceColumnStore, make(viewsTimeoutMillis))

export const layer = layerWith(VIEWS_TIMEOUT_MILLIS)
