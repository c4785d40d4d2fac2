/** Changes the type of a source's column. */
import type { FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import type { TableLayout } from "@data-cabinet/core/row/RowPlan"
import {
  type NewType,
  NotRetyped,
  type RetypeDecisions,
  type SourceColumn,
} from "@data-cabinet/core/row/SourceColumnStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { type Context, Deferred, Effect, Fiber, type Scope } from "effect"
import { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { type Ask, endSession } from "../connection/SessionEnd.ts"
import { isUnavailable, orUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import { SORTED_INDEXES_OF } from "./ColumnIndexStatement.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { conversion } from "./NotationSql.ts"
import { dependentViews, dropViews, findObstacle, recreateViews, type SavedView } from "./DependentViews.ts"
import { existingColumns, loadSourceTable, SOURCES_SCHEMA } from "./SourceTable.ts"
import { LOCK_TIMEOUT_MILLIS, busy, isLockTimeout, isSlow, viewFailed } from "./RetypeFailure.ts"

/** How long after the cancel the session is terminated: code can catch a cancel, but not the end of its session. */
const END_AFTER_MILLIS = 2_000

/** How long the caller waits for a terminated session to end. */
const ANSWER_AFTER_MILLIS = 3_000

export interface RetypeOptions<E> {
  readonly sourceId: number
  readonly name: string
  readonly to: NewType
  readonly decide: RetypeDecisions<E>
  /** How long recreating all views may take in total. */
  readonly viewsTimeoutMillis: number
  /** Runs queries on another session than the transaction's. */
  readonly ask: Ask
  readonly context: Context.Context<never>
  /** Reads the column's current state. */
  readonly readColumn: Effect.Effect<SourceColumn, SqlError.SqlError>
}

/** The column in its locked table. */
interface Target {
  /** The table's quoted name. */
  readonly table: string
  readonly layout: TableLayout
  readonly column: FieldColumn
  /** SQL for whether the new type can hold a value, and for the converted value. */
  readonly fits: string
  readonly value: string
}

export class Retype<E> {
  readonly #sql: PgClient.PgClient
  readonly #options: RetypeOptions<E>
  /** Whether the transaction's session was terminated because recreating the views took too long. */
  #isOverTime = false

  constructor(sql: PgClient.PgClient, options: RetypeOptions<E>) {
    this.#sql = sql
    this.#options = options
  }

  /**
   * Changes the type in a transaction of its own. It rewrites even a large table, without a time limit. The transaction
   * keeps its session in `scope`: if a view's code does not end on request, the caller gets a result while it still runs.
   */
  run(scope: Scope.Scope) {
    const outlived = Deferred.makeUnsafe<never, NotRetyped>()
    const work = this.#sql.withTransaction(this.#steps(outlived)).pipe(
      Effect.catchCause((cause) => (this.#isOverTime ? Effect.fail(this.#tooSlow()) : Effect.failCause(cause))),
      Effect.mapError((error) => (SqlError.isSqlError(error) && isLockTimeout(error) ? busy() : error)),
      Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))),
    )
    return Effect.flatMap(Effect.forkIn(work, scope), (fiber) =>
      Effect.raceFirst(
        Effect.onInterrupt(Fiber.join(fiber), () => (this.#isOverTime ? Effect.void : Fiber.interrupt(fiber))),
        Deferred.await(outlived),
      ),
    )
  }

  #steps(outlived: Deferred.Deferred<never, NotRetyped>) {
    return Effect.gen({ self: this }, function* () {
      const target = yield* this.#lock()
      const { readColumn } = this.#options
      if (target === null) return { column: yield* readColumn, moved: 0, sibling: null, views: [] }
      const views = yield* this.#dropDependents(target)
      const { moved, sibling } = yield* this.#moveMisfits(target)
      yield* this.#dropSortedIndexes(target)
      yield* this.#changeType(target)
      yield* this.#recreate(views, outlived)
      return { column: yield* readColumn, moved, sibling, views: namesOf(views) }
    })
  }

  /** Locks the source and its table; null if the column already has the type. */
  #lock() {
    return Effect.gen({ self: this }, function* () {
      const sql = this.#sql
      const { sourceId, name, to, decide } = this.#options
      yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
      const found = yield* loadSourceTable(sql, sourceId)
      const column = yield* Effect.fromResult(decide.column(found))
      if (column === null) return null
      const table = quoteQualified(SOURCES_SCHEMA, found!.name!)
      yield* sql.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      const existing = yield* existingColumns(sql, sourceId)
      if (existing !== undefined) yield* Effect.fromResult(decide.column(existing))
      const target: Target = {
        table,
        layout: found!.layout,
        column,
        ...conversion(quoteName(name), column.kind, to),
      }
      return target
    })
  }

  /** Drops the views that depend on the column, and returns them. */
  #dropDependents({ table }: Target) {
    return Effect.gen({ self: this }, function* () {
      const sql = this.#sql
      const { name, decide } = this.#options
      const [attribute] = yield* sql<{ number: number }>`
        SELECT attnum::int4 AS number FROM pg_attribute WHERE attrelid = ${table}::text::regclass AND attname = ${name}`
      const views = yield* dependentViews(sql, table, attribute!.number)
      const obstacle = yield* findObstacle(sql, views)
      const objects = yield* columnDependents(sql, table, attribute!.number, int8Array(views.map(({ oid }) => oid)))
      yield* Effect.fromResult(decide.dependents({ views: namesOf(views), obstacle, objects }))
      yield* Effect.mapError(dropViews(sql, views, LOCK_TIMEOUT_MILLIS), viewFailed)
      return views
    })
  }

  /** Moves the values that the new type cannot hold to the sibling column. */
  #moveMisfits({ table, layout, column, fits }: Target) {
    return Effect.gen({ self: this }, function* () {
      const sql = this.#sql
      const { sourceId, name, decide } = this.#options
      const quoted = quoteName(name)
      const [misfits] = yield* sql.unsafe<{ n: number }>(
        `SELECT count(*)::int4 AS n FROM ${table} WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
      )
      const moved = misfits!.n
      if (moved === 0) return { moved, sibling: null }
      const sibling = decide.sibling(layout, column)
      if (sibling.isNew) {
        yield* sql.unsafe(`ALTER TABLE ${table} ADD COLUMN ${quoteName(sibling.name)} text`)
        yield* sql`
          INSERT INTO cabinet.field_column (source_id, position, field, name, type)
          SELECT ${sourceId}, max(position) + 1, ${column.field}, ${sibling.name}, 'text'
          FROM cabinet.field_column WHERE source_id = ${sourceId}`
      }
      yield* sql.unsafe(
        `UPDATE ${table} SET ${quoteName(sibling.name)} = ${quoted}::text WHERE ${quoted} IS NOT NULL AND NOT (${fits})`,
      )
      return { moved, sibling: sibling.name }
    })
  }

  /** Drops our sorted indexes: they would refuse values too long for an index entry, and so the events with such values. */
  #dropSortedIndexes({ table }: Target) {
    return Effect.gen({ self: this }, function* () {
      const { name, to } = this.#options
      if (to.type !== "text" && to.type !== "jsonb") return
      const found = yield* this.#sql.unsafe<{ name: string }>(SORTED_INDEXES_OF, [table, name])
      for (const index of found) yield* this.#sql.unsafe(`DROP INDEX ${index.name}`)
    })
  }

  #changeType({ table, fits, value }: Target) {
    return Effect.gen({ self: this }, function* () {
      const sql = this.#sql
      const {
        sourceId,
        name,
        to: { type },
      } = this.#options
      yield* Effect.mapError(
        sql.unsafe(
          `ALTER TABLE ${table} ALTER COLUMN ${quoteName(name)} TYPE ${type} USING CASE WHEN ${fits} THEN ${value} END`,
        ),
        // The search does not cover this kind of dependency, or the dependency has just appeared.
        (error) =>
          isUnavailable(error) || isLockTimeout(error)
            ? error
            : new NotRetyped({ fact: { is: "depended_on", detail: sqlMessage(error) } }),
      )
      yield* sql`
        UPDATE cabinet.field_column SET type = ${type}, type_pinned = true WHERE source_id = ${sourceId} AND name = ${name}`
      // Invalidates submissions planned for the previous table.
      yield* sql`UPDATE cabinet.source SET version = version + 1 WHERE id = ${sourceId}`
    })
  }

  #recreate(views: ReadonlyArray<SavedView>, outlived: Deferred.Deferred<never, NotRetyped>) {
    return Effect.gen({ self: this }, function* () {
      if (views.length === 0) return
      const sql = this.#sql
      yield* sql.unsafe(`SET LOCAL statement_timeout = ${this.#options.viewsTimeoutMillis}`)
      yield* Effect.mapError(this.#inTime(recreateViews(sql, views), outlived), (error) =>
        isSlow(error) ? this.#tooSlow() : viewFailed(error),
      )
      yield* sql`SET LOCAL statement_timeout = 0`
    })
  }

  /**
   * Terminates the transaction's session, from another session, unless `work` finishes in time. Returns to the caller even
   * if the session keeps running.
   */
  #inTime<A, F>(work: Effect.Effect<A, F>, outlived: Deferred.Deferred<never, NotRetyped>) {
    const { sourceId, viewsTimeoutMillis, context } = this.#options
    const ask: Ask = (statement, values) => this.#options.ask(statement, values)
    const terminate = (pid: number) =>
      Effect.gen({ self: this }, function* () {
        yield* Effect.sleep(viewsTimeoutMillis + END_AFTER_MILLIS)
        this.#isOverTime = true
        const answer = Effect.andThen(Effect.sleep(ANSWER_AFTER_MILLIS), Deferred.fail(outlived, this.#tooSlow()))
        const ended = endSession(ask, { pid, role: null, work: `recreating the views of source ${sourceId}` })
        yield* Effect.all([answer, Effect.ignore(ended)], { concurrency: "unbounded" })
      })
    return Effect.flatMap(this.#sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([session]) =>
      Effect.acquireUseRelease(
        // Forked, so that it runs outside the transaction.
        Effect.sync(() => Effect.runForkWith(context)(terminate(session!.pid))),
        () => work,
        Fiber.interrupt,
      ),
    )
  }

  #tooSlow() {
    return new NotRetyped({ fact: { is: "slow", seconds: this.#options.viewsTimeoutMillis / 1000 } })
  }
}

const namesOf = (views: ReadonlyArray<SavedView>): ReadonlyArray<string> =>
  views.map(({ schema, name }) => `${schema}.${name}`)
