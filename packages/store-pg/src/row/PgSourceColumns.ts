/** Changes to the columns of source tables that an operator requests. */
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import { nameColumns } from "@data-cabinet/core/row/RowPlan"
import { type SourceColumn, ColumnError, SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { EXACT_FORMAT } from "@data-cabinet/core/row/ExactFormat"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer } from "effect"
import { SqlError } from "effect/sql"
import { isUnavailable, orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { int8Array } from "../connection/ArrayParameter.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { dependentViews, dropViews, remakeViews, unmakeable } from "./DependentViews.ts"
import { loadSourceTable, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"

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

const noSuchColumn = (table: SourceTable, column: string) =>
  new ColumnError({
    code: "no_such_column",
    message: `Table sources.${table.name} has no field column "${column}". It has: ${table.layout.columns.map((c) => c.name).join(", ") || "none yet"}.`,
  })

const make = (viewsTimeoutMillis: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const tableOf = Effect.fnUntraced(function* (sourceId: number) {
      const table = yield* loadSourceTable(sql, sourceId)
      if (table === undefined) {
        return yield* new ColumnError({ code: "no_such_source", message: `There is no source ${sourceId}.` })
      }
      if (table.name === null) {
        return yield* new ColumnError({ code: "no_table", message: `Source ${sourceId} has no table: it was dropped.` })
      }
      return { ...table, name: table.name }
    })

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

    const tooSlow = (name: string) =>
      new ColumnError({
        code: "views_slow",
        message: `Recreating the views that depend on column "${name}" did not end within ${viewsTimeoutMillis / 1000} seconds, for which nobody else could use the table, so nothing was changed. Drop those that take long (a materialized view is filled again; a function in a view runs), and create them again afterwards.`,
      })

    const retype = Effect.fnUntraced(function* (
      sourceId: number,
      name: string,
      type: ColumnKind,
      withViews: boolean,
      overTime: OverTime,
    ) {
      yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
      const table = yield* tableOf(sourceId)
      const column = table.layout.columns.find((each) => each.name === name)
      if (column === undefined) return yield* noSuchColumn(table, name)
      if (column.kind === type) return { column: yield* rowOf(sourceId, name), moved: 0, sibling: null, views: [] }
      const target = quoteQualified(SOURCES_SCHEMA, table.name)
      yield* sql.unsafe(`LOCK TABLE ${target} IN ACCESS EXCLUSIVE MODE`)
      const [attribute] = yield* sql<{ number: number }>`
        SELECT attnum::int4 AS number FROM pg_attribute WHERE attrelid = ${target}::text::regclass AND attname = ${name}`
      const views = yield* dependentViews(sql, target, attribute!.number)
      const names = views.map((view) => `${view.schema}.${view.name}`)
      if (views.length > 0 && !withViews) {
        return yield* new ColumnError({
          code: "views_depend",
          message: `Views depend on column "${name}": ${names.join(", ")}. Say --with-views to have them recreated with it, or drop them first.`,
        })
      }
      const obstacle = yield* unmakeable(sql, views)
      if (obstacle !== undefined) {
        return yield* new ColumnError({
          code: "views_depend",
          message: `A view that depends on column "${name}" cannot be recreated, so nothing was changed: ${obstacle}. Drop it first, and make it again afterwards.`,
        })
      }
      const dependents = yield* columnDependents(sql, target, attribute!.number, int8Array(views.map(({ oid }) => oid)))
      if (dependents.length > 0) return yield* inTheWay(name, dependents.join(", "))
      yield* Effect.mapError(dropViews(sql, views, LOCK_TIMEOUT_MILLIS), (error) => asRefusal(error, name, type))
      const quoted = quoteName(name)
      const { fits, value } = conversion(quoted, column.kind, type)
      const [misfits] = yield* sql.unsafe<{ n: number }>(
        `SELECT count(*)::int4 AS n FROM ${target} WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
      )
      const moved = misfits!.n
      let sibling: string | null = null
      if (moved > 0) {
        const known = table.layout.of(column.field).find((each) => each.kind === "text" && each.name !== name)
        sibling = known?.name ?? null
        if (sibling === null) {
          // The column is the first of its field, so from now on values that do not fit go to a text sibling.
          const [made] = nameColumns(table.layout, [{ field: column.field, kind: "text" }], [name])
          sibling = made?.name ?? `${name.slice(0, 50)}_text`
          yield* sql.unsafe(`ALTER TABLE ${target} ADD COLUMN ${quoteName(sibling)} text`)
          yield* sql`
            INSERT INTO cabinet.field_column (source_id, position, field, name, type)
            SELECT ${sourceId}, max(position) + 1, ${column.field}, ${sibling}, 'text'
            FROM cabinet.field_column WHERE source_id = ${sourceId}`
        }
        yield* sql.unsafe(
          `UPDATE ${target} SET ${quoteName(sibling)} = ${quoted}::text WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
        )
      }
      yield* Effect.mapError(
        sql.unsafe(
          `ALTER TABLE ${target} ALTER COLUMN ${quoted} TYPE ${type} USING CASE WHEN ${fits} THEN ${value} END`,
        ),
        // A dependency of a kind that is not looked for, or one that appeared just now.
        (error) =>
          isUnavailable(error) || sqlState(error) === "55P03" ? error : inTheWay(name, `(${sqlMessage(error)})`),
      )
      yield* sql`
        UPDATE cabinet.field_column SET type = ${type}, type_pinned = true WHERE source_id = ${sourceId} AND name = ${name}`
      // Invalidates submissions planned for the previous table.
      yield* sql`UPDATE cabinet.source SET table_name = table_name WHERE id = ${sourceId}`
      if (views.length > 0) {
        yield* sql.unsafe(`SET LOCAL statement_timeout = ${viewsTimeoutMillis}`)
        yield* Effect.mapError(within(overTime, remakeViews(sql, views)), (error) =>
          isSlow(error) ? tooSlow(name) : asRefusal(error, name, type),
        )
        yield* sql`SET LOCAL statement_timeout = 0`
      }
      return { column: yield* rowOf(sourceId, name), moved, sibling, views: names }
    })

    const inTheWay = (name: string, objects: string) =>
      new ColumnError({
        code: "objects_depend",
        message: `Column "${name}" cannot get another type while something depends on it that cannot be recreated, so nothing was changed: ${objects}. Drop it first, and create it again afterwards.`,
      })

    /** A view written for the old type may not work with the new one; the transaction is then rolled back. */
    const asRefusal = (error: SqlError.SqlError, name: string, type: ColumnKind) =>
      isUnavailable(error) || sqlState(error) === "55P03"
        ? error
        : new ColumnError({
            code: "views_depend",
            message: `A view that depends on column "${name}" does not work with type ${type}, so nothing was changed: ${sqlMessage(error)}. Drop it first, or write it for the new type.`,
          })

    return SourceColumns.of({
      list: Effect.fnUntraced(function* (sourceId) {
        yield* tableOf(sourceId)
        const rows = yield* sql.unsafe<ColumnRow>(
          `SELECT ${COLUMNS} FROM cabinet.field_column c WHERE c.source_id = $1 ORDER BY c.position`,
          [sourceId],
        )
        return rows.map(toColumn)
      }, orUnavailable),
      relabel: Effect.fnUntraced(function* (sourceId, column, label) {
        const table = yield* tableOf(sourceId)
        if (label.trim() === "" || label.length > 1_000) {
          return yield* new ColumnError({ code: "bad_label", message: "A label has 1 to 1,000 characters." })
        }
        const [row] = yield* sql.unsafe<ColumnRow>(
          `UPDATE cabinet.field_column c SET label = $3 WHERE c.source_id = $1 AND c.name = $2 RETURNING ${COLUMNS}`,
          [sourceId, column, label],
        )
        if (row === undefined) return yield* noSuchColumn(table, column)
        return toColumn(row)
      }, orUnavailable),
      retype: Effect.fnUntraced(function* (sourceId, column, type, { withViews }) {
        const overTime: OverTime = { isEnded: false }
        return yield* sql.withTransaction(retype(sourceId, column, type, withViews, overTime)).pipe(
          Effect.catchCause((cause) => (overTime.isEnded ? Effect.fail(tooSlow(column)) : Effect.failCause(cause))),
          Effect.mapError((error) =>
            SqlError.isSqlError(error) && sqlState(error) === "55P03"
              ? new ColumnError({
                  code: "table_busy",
                  message:
                    "The table, or a view that depends on it, is in use and could not be locked within 3 seconds. Try again at a quieter moment.",
                })
              : error,
          ),
          // A large table is rewritten, without a time limit.
          Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))),
        )
      }),
    })
  })

/** `viewsTimeoutMillis`: how long recreating all views may take in total. */
export const layerWith = (viewsTimeoutMillis: number) => Layer.effect(SourceColumns, make(viewsTimeoutMillis))

export const layer = layerWith(VIEWS_TIMEOUT_MILLIS)
