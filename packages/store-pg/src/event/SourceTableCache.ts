/**
 * The tables that a batch's rows go into: cached, extended by missing columns before the batch, and skipped (their rows
 * deferred) if not available.
 *
 * Decision: docs/decisions/0006-cached-sources-carry-a-version.md
 */
import type { AcceptRequest, NewEvent } from "@data-cabinet/core/event/EventLog"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { sqlState } from "../connection/StoreFailure.ts"
import { ensureColumns } from "../row/EnsureColumns.ts"
import { loadSourceTable, type SourceTable } from "../row/SourceTable.ts"
import type { Target } from "./BatchPlan.ts"

const WAITS: Target = { table: undefined, waits: true }
const GONE: Target = { table: undefined, waits: false }

/** The rows of a lost table are set aside by the drain. A source whose table we dropped has no rows. */
const withoutTable = (table: SourceTable): Target => (table.lost === null ? { table, waits: false, plans: [] } : WAITS)

/** How long no column is added to a table after the database refused one: each attempt locks the table. */
const REFUSED_MILLIS = 10_000

/** Spam has no row, and creates no column. */
const withRows = (events: ReadonlyArray<NewEvent>): ReadonlyArray<NewEvent> =>
  events.some(({ spam }) => spam !== undefined) ? events.filter(({ spam }) => spam === undefined) : events

export const isLockTimeout = (error: SqlError.SqlError): boolean => sqlState(error) === "55P03"

export type SourceTableCache = ReturnType<typeof sourceTableCache>

export const sourceTableCache = (sql: PgClient.PgClient) => {
  const known = new Map<number, SourceTable>()
  /**
   * Sources whose table was recently unavailable: their rows are deferred without another attempt until the queue is
   * empty.
   */
  const waiting = new Set<number>()
  /** Until when no column is added to a source's table. */
  const refused = new Map<number, number>()

  /** Returns the table, with a column for every field of these requests, and the plans of their rows. */
  const targetFor = Effect.fnUntraced(function* (
    sourceId: number,
    requests: ReadonlyArray<AcceptRequest>,
  ): Effect.fn.Return<Target, SqlError.SqlError> {
    const events = withRows(requests.flatMap((request) => request.events))
    let table = known.get(sourceId)
    if (table === undefined || requests.some((request) => request.sourceVersion !== table?.version)) {
      table = yield* loadSourceTable(sql, sourceId)
      if (table === undefined) return GONE
      // A table that was moved or renamed by hand, or is being restored, may be back for the next batch.
      if (table.name === null) return withoutTable(table)
      known.set(sourceId, table)
    }
    const now = yield* Clock.currentTimeMillis
    const mayAdd = now >= (refused.get(sourceId) ?? 0)
    const fitted = yield* ensureColumns(sql, table, events, mayAdd)
    if (fitted === undefined) return GONE
    if (mayAdd && fitted.isShort) refused.set(sourceId, now + REFUSED_MILLIS)
    else if (mayAdd) refused.delete(sourceId)
    if (fitted.table.name === null) {
      known.delete(sourceId)
      return withoutTable(fitted.table)
    }
    known.set(sourceId, fitted.table)
    return { table: fitted.table, plans: fitted.plans, waits: false }
  })

  /** Removes the sources that no longer wait; queries the database only while there are any. */
  const forgetDrained = Effect.gen(function* () {
    const still = yield* sql.unsafe<{ id: string }>(
      "SELECT id::text AS id FROM cabinet.source WHERE rows_deferred AND deleted_at IS NULL",
    )
    const ids = new Set(still.map((row) => Number(row.id)))
    for (const id of waiting) if (!ids.has(id)) waiting.delete(id)
  })

  return {
    /** Returns the target of each source's rows. All of them are deferred unless `rowsMayGo`. */
    of: Effect.fnUntraced(function* (requests: ReadonlyArray<AcceptRequest>, rowsMayGo: boolean) {
      if (waiting.size > 0) yield* forgetDrained
      const targets = new Map<number, Target>()
      for (const [sourceId, own] of Map.groupBy(requests, (request) => request.sourceId)) {
        if (!rowsMayGo || waiting.has(sourceId)) {
          targets.set(sourceId, WAITS)
          continue
        }
        const target = yield* targetFor(sourceId, own).pipe(Effect.catchIf(isLockTimeout, () => Effect.succeed(WAITS)))
        if (target.waits) waiting.add(sourceId)
        targets.set(sourceId, target)
      }
      return targets
    }),
    /** Defers the rows of this source from now on. */
    wait: (sourceId: number): void => void waiting.add(sourceId),
    /** Discards a table's cached state, which may be outdated; it is loaded again on next use. */
    forget: (sourceId: number): void => void known.delete(sourceId),
  }
}
