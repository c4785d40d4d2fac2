/**
 * Finds out what a change of a column's type would do, in a transaction that only reads, so that intake and readers of the
 * table continue. It searches and counts values for a few seconds at most, and shortens the examples.
 */
import type { FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import {
  type NewType,
  NotRetyped,
  type RetypeDecisions,
  type RetypeTrial,
} from "@data-cabinet/core/row/SourceColumnStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { dependentViews, findObstacle } from "./DependentViews.ts"
import { existingColumns, holdSourceTable, SOURCES_SCHEMA, type SourceTable } from "./SourceTable.ts"
import { isLockTimeout, isSlow } from "./RetypeFailure.ts"
import { conversion } from "./NotationSql.ts"

interface TrialOptions<E> {
  readonly sourceId: number
  readonly name: string
  readonly to: NewType
  readonly decide: RetypeDecisions<E>
}

const LOCK_TIMEOUT_MILLIS = 1_000
/** The time limit for finding the examples, and again for counting. */
const TRIAL_TIMEOUT_MILLIS = 3_000
const MAX_EXAMPLES = 20
const EXAMPLE_CHARACTERS = 200

const NOTHING: RetypeTrial = { misfits: 0, examples: [], sibling: null, views: [] }

export const tryRetype = <E>(sql: PgClient.PgClient, options: TrialOptions<E>) =>
  sql.withTransaction(trial(sql, options)).pipe(
    Effect.mapError((error) =>
      SqlError.isSqlError(error) && isLockTimeout(error)
        ? new NotRetyped({ fact: { is: "busy", seconds: LOCK_TIMEOUT_MILLIS / 1000 } })
        : error,
    ),
    Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))),
  )

const trial = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  { sourceId, name, to, decide }: TrialOptions<E>,
): Effect.fn.Return<RetypeTrial, E | SqlError.SqlError> {
  yield* sql`SET TRANSACTION READ ONLY`
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
  const found = yield* holdSourceTable(sql, sourceId)
  const column = yield* Effect.fromResult(decide.column((yield* existingColumns(sql, sourceId)) ?? found))
  if (column === null) return NOTHING
  const views = yield* viewsOf(sql, found!, column, decide)
  yield* sql.unsafe(`SET LOCAL statement_timeout = ${TRIAL_TIMEOUT_MILLIS}`)
  const quoted = quoteName(name)
  const { fits } = conversion(quoted, column.kind, to)
  const from = `FROM ${quoteQualified(SOURCES_SCHEMA, found!.name!)} WHERE ${quoted} IS NOT NULL AND NOT (${fits})`
  const examples = yield* inTime(
    sql,
    sql.unsafe<{ eventId: number; value: string }>(
      `SELECT _event_id::float8 AS "eventId", left(${quoted}::text, ${EXAMPLE_CHARACTERS}) AS value ${from} LIMIT ${MAX_EXAMPLES}`,
    ),
  )
  // If the examples were not found in time, counting would not finish either.
  const counted =
    examples === null ? null : yield* inTime(sql, sql.unsafe<{ n: number }>(`SELECT count(*)::float8 AS n ${from}`))
  const misfits = counted?.[0]?.n ?? null
  const sibling = misfits === 0 ? null : decide.sibling(found!.layout, column).name
  return { misfits, examples: examples ?? [], sibling, views }
})

const viewsOf = Effect.fnUntraced(function* <E>(
  sql: PgClient.PgClient,
  { name: tableName }: SourceTable,
  { name }: FieldColumn,
  decide: RetypeDecisions<E>,
) {
  const table = quoteQualified(SOURCES_SCHEMA, tableName!)
  const [attribute] = yield* sql<{ number: number }>`
    SELECT attnum::int4 AS number FROM pg_attribute WHERE attrelid = ${table}::text::regclass AND attname = ${name}`
  const found = yield* dependentViews(sql, table, attribute!.number)
  const obstacle = yield* findObstacle(sql, found)
  const objects = yield* columnDependents(sql, table, attribute!.number, int8Array(found.map(({ oid }) => oid)))
  const views = found.map((view) => `${view.schema}.${view.name}`)
  yield* Effect.fromResult(decide.dependents({ views, obstacle, objects }))
  return views
})

/** Runs work in a savepoint, so that the transaction continues; null if it took too long. */
const inTime = <A>(sql: PgClient.PgClient, work: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.catchIf(sql.withTransaction(work), isSlow, () => Effect.succeed<A | null>(null))
