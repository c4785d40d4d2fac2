/**
 * Drops columns of a source's table that have no values. It first looks for anything that prevents the drop, under a lock
 * that blocks neither readers nor writers. Then it locks out writers to scan the table once, and readers for the drop
 * itself. It waits only briefly for these locks, and retries, because other sessions queue behind it.
 */
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import {
  type ColumnUse,
  type DropDecisions,
  NotRetyped,
  type SourceColumn,
} from "@data-cabinet/core/row/SourceColumnStore"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { int8Array, textArray } from "../connection/Parameter.ts"
import { isConflict, isUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { COLUMN, type ColumnRow, toColumn } from "./ColumnRow.ts"
import { dependentViews } from "./DependentViews.ts"
import { holdSourceTable, isMissingTable, loadSourceTable, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"

/** How long one attempt waits for a lock, the number of attempts, and the pause after each. */
const LOCK_TIMEOUT_MILLIS = 200
const ATTEMPTS = 20
const PAUSE = "300 millis"

const BUSY_SECONDS = 10

/** $1: the table. Dropped columns keep their numbers. */
const NUMBERED = "SELECT max(attnum)::int4 AS numbered FROM pg_attribute WHERE attrelid = $1::regclass"

const ATTRIBUTE = "SELECT attnum::int4 AS number FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2"

/**
 * $1: the table, $2: the column's number. Finds the indexes, constraints and statistics that PostgreSQL would drop with the
 * column, and the table's own rules.
 */
const INDEXES = `
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) AS object FROM pg_depend d
WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int2
  AND (d.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_statistic_ext'::regclass)
    OR d.classid = 'pg_rewrite'::regclass AND EXISTS (
      SELECT FROM pg_rewrite r WHERE r.oid = d.objid AND r.ev_class = $1::regclass))
ORDER BY 1 LIMIT 5`

const SAVED_VIEWS = `SELECT title, query FROM cabinet.saved_view WHERE schema_name = '${SOURCES_SCHEMA}' AND table_name = $1 ORDER BY id`

const FORGET = `DELETE FROM cabinet.field_column c WHERE c.source_id = $1 AND c.name = ANY ($2::text[]) RETURNING ${COLUMN}`

const qualified = ({ name }: SourceTable) => quoteQualified(SOURCES_SCHEMA, name!)

/** Returns those of the columns that have a value; scans the table once for all of them. */
const columnsWithValues = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  table: SourceTable,
  names: ReadonlyArray<string>,
): Effect.fn.Return<ReadonlySet<string>, SqlError.SqlError> {
  if (names.length === 0) return new Set()
  // For a single column the scan ends at its first value.
  const statement =
    names.length === 1
      ? `SELECT ARRAY[EXISTS (SELECT FROM ${qualified(table)} WHERE ${quoteName(names[0]!)} IS NOT NULL)] AS filled`
      : `SELECT ARRAY[${names.map((name) => `count(${quoteName(name)}) > 0`).join(", ")}] AS filled FROM ${qualified(table)}`
  const [row] = yield* sql.unsafe<{ filled: ReadonlyArray<boolean> }>(statement)
  return new Set(names.filter((_, index) => row!.filled[index] === true))
})

type FilledOf = (names: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, SqlError.SqlError>

/** Returns what prevents dropping each of the table's columns. The transaction has locked the table. */
export const usesOf = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  table: SourceTable,
  names: ReadonlyArray<string>,
  filledOf: FilledOf = (present) => columnsWithValues(sql, table, present),
): Effect.fn.Return<ReadonlyMap<string, ColumnUse>, SqlError.SqlError> {
  const relation = qualified(table)
  const numbers = new Map<string, number>()
  for (const name of names) {
    const [attribute] = yield* sql.unsafe<{ number: number }>(ATTRIBUTE, [relation, name])
    if (attribute !== undefined) numbers.set(name, attribute.number)
  }
  const filled = yield* filledOf([...numbers.keys()])
  const savedViews = yield* sql.unsafe<{ title: string; query: string }>(SAVED_VIEWS, [table.name])
  const [{ numbered } = { numbered: 0 }] = yield* sql.unsafe<{ numbered: number }>(NUMBERED, [relation])
  const uses = new Map<string, ColumnUse>()
  for (const [name, number] of numbers) {
    const views = yield* dependentViews(sql, relation, number)
    const objects = yield* columnDependents(sql, relation, number, int8Array(views.map(({ oid }) => oid)))
    const indexes = yield* sql.unsafe<{ object: string }>(INDEXES, [relation, number])
    uses.set(name, {
      filled: filled.has(name),
      views: views.map((view) => `${view.schema}.${view.name}`),
      objects,
      indexes: indexes.map(({ object }) => object),
      savedViews,
      numbered,
    })
  }
  return uses
})

/** Decides what to drop. A column that is already gone is removed from our list as well. */
const chosen = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  table: SourceTable,
  names: ReadonlyArray<string>,
  use: DropChoice<E>,
): Effect.fn.Return<ReadonlyArray<string>, E | SqlError.SqlError> {
  const uses = yield* usesOf(sql, table, names)
  const drop: Array<string> = []
  for (const name of names) {
    const found = uses.get(name)
    if (found === undefined || (yield* Effect.fromResult(use(name, found)))) drop.push(name)
  }
  return drop
})

/** Decides whether to drop a column; a failure leaves everything unchanged. */
export type DropChoice<E> = (name: string, use: ColumnUse) => Result.Result<boolean, E>

export interface DropOptions<E> {
  readonly sourceId: number
  readonly table: (table: SourceTable | undefined) => Result.Result<ReadonlyArray<string>, E>
  readonly use: DropChoice<E>
  /** Additional work in the transaction that drops the columns. */
  readonly also?: (dropped: ReadonlyArray<SourceColumn>) => Effect.Effect<unknown, SqlError.SqlError>
}

const dropLocked = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  { sourceId, table: columnsIn, use, also = () => Effect.void }: DropOptions<E>,
): Effect.fn.Return<ReadonlyArray<SourceColumn>, E | NotRetyped | SqlError.SqlError> {
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
  const table = yield* loadSourceTable(sql, sourceId)
  const names = yield* Effect.fromResult(columnsIn(table))
  if (table === undefined || table.name === null || names.length === 0) return []
  yield* sql.unsafe(`LOCK TABLE ${qualified(table)} IN SHARE ROW EXCLUSIVE MODE`)
  const drop = yield* chosen(sql, table, names, use)
  if (drop.length === 0) return []
  const clauses = drop.map((name) => `DROP COLUMN IF EXISTS ${quoteName(name)}`)
  yield* Effect.mapError(sql.unsafe(`ALTER TABLE ${qualified(table)} ${clauses.join(", ")}`), (error) =>
    sqlState(error) === "2BP01" ? new NotRetyped({ fact: { is: "depended_on", detail: sqlMessage(error) } }) : error,
  )
  const dropped = yield* sql.unsafe<ColumnRow>(FORGET, [sourceId, textArray(drop)])
  // Invalidates submissions planned for the previous table.
  yield* sql`UPDATE cabinet.source SET version = version + 1 WHERE id = ${sourceId}`
  const columns = dropped.map(toColumn)
  yield* also(columns)
  return columns
})

const retried = <A, E>(work: Effect.Effect<A, E | SqlError.SqlError>) =>
  work.pipe(
    Effect.retry({
      while: (error) =>
        SqlError.isSqlError(error) && !isUnavailable(error) && (isConflict(error) || isMissingTable(error)),
      schedule: Schedule.spaced(PAUSE),
      times: ATTEMPTS - 1,
    }),
    Effect.mapError((error) =>
      SqlError.isSqlError(error) && isConflict(error)
        ? new NotRetyped({ fact: { is: "busy", seconds: BUSY_SECONDS } })
        : error,
    ),
  )

/** Decides what to drop while senders and readers of the table continue. */
const look = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  options: DropOptions<E>,
): Effect.fn.Return<ReadonlyArray<string>, E | SqlError.SqlError> {
  yield* sql`SET LOCAL statement_timeout = 0`
  const table = yield* holdSourceTable(sql, options.sourceId)
  const names = yield* Effect.fromResult(options.table(table))
  if (table === undefined || table.name === null || names.length === 0) return []
  return yield* chosen(sql, table, names, options.use)
})

/** Drops columns and returns those that it dropped. */
export const dropColumns = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  options: DropOptions<E>,
): Effect.fn.Return<ReadonlyArray<SourceColumn>, E | NotRetyped | SqlError.SqlError> {
  const drop = yield* sql.withTransaction(look(sql, options))
  if (drop.length === 0) return []
  const wanted = new Set(drop)
  const narrowed = (found: SourceTable | undefined) =>
    Result.map(options.table(found), (all) => all.filter((name) => wanted.has(name)))
  return yield* retried(sql.withTransaction(dropLocked(sql, { ...options, table: narrowed })))
})

/** The options that drop a single column, or fail. */
export const singleDrop = <E>(sourceId: number, name: string, decide: DropDecisions<E>): DropOptions<E> => ({
  sourceId,
  table: (table) => Result.map(decide.column(table), () => [name]),
  use: (_, use) => Result.map(decide.use(use), () => true),
})
