/**
 * The tables that a batch's rows go into: what is known of them is kept, what they lack is made first, and where one
 * cannot be had its rows wait.
 */
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { sqlState } from "../connection/StoreFailure.ts"
import { addColumns, loadSourceTable, type SourceTable } from "../row/SourceTable.ts"
import { lackOf } from "./BatchPlan.ts"

/** Undefined without `waits`: the source has no table any more. */
export interface Target {
  readonly table: SourceTable | undefined
  readonly waits: boolean
}

const WAITS: Target = { table: undefined, waits: true }

export const isLockTimeout = (error: SqlError.SqlError): boolean => sqlState(error) === "55P03"

export class TargetTables {
  readonly #sql: PgClient.PgClient
  readonly #known = new Map<number, SourceTable>()
  /** Sources whose table could not be had lately: their rows wait without another try until the queue is empty. */
  readonly #waiting = new Set<number>()

  constructor(sql: PgClient.PgClient) {
    this.#sql = sql
  }

  /** What is known may be outdated: it is read anew when it is next asked for. */
  forget(sourceId: number): void {
    this.#known.delete(sourceId)
  }

  /** The rows of this source wait from now on. */
  wait(sourceId: number): void {
    this.#waiting.add(sourceId)
  }

  /** Where the rows of each source go; all of them wait unless they may go. */
  readonly of = Effect.fnUntraced(
    { self: this },
    function* (this: TargetTables, requests: ReadonlyArray<AcceptRequest>, rowsMayGo: boolean) {
      if (this.#waiting.size > 0) yield* this.#forgetDrained
      const targets = new Map<number, Target>()
      for (const [sourceId, own] of Map.groupBy(requests, (request) => request.sourceId)) {
        if (!rowsMayGo || this.#waiting.has(sourceId)) {
          targets.set(sourceId, WAITS)
          continue
        }
        const table = yield* this.#tableFor(sourceId, own).pipe(
          Effect.catchIf(isLockTimeout, () => Effect.succeed("locked" as const)),
        )
        if (table === "locked") this.wait(sourceId)
        targets.set(sourceId, table === "locked" ? WAITS : { table, waits: false })
      }
      return targets
    },
  )

  /** The table with a column for every field of these requests; undefined where there is no such source. */
  readonly #tableFor = Effect.fnUntraced(
    { self: this },
    function* (this: TargetTables, sourceId: number, requests: ReadonlyArray<AcceptRequest>) {
      const payloads = requests.flatMap((request) => request.events.map((event) => event.payload))
      let table = this.#known.get(sourceId)
      if (table === undefined || requests.some((request) => request.sourceVersion !== table?.version)) {
        table = yield* loadSourceTable(this.#sql, sourceId)
        if (table === undefined) return undefined
        this.#known.set(sourceId, table)
      }
      if (table.name === null) return table
      const lack = lackOf(table.layout, payloads)
      if (lack.missing.length > 0 || lack.needsMore) {
        table = yield* addColumns(this.#sql, sourceId, lack.missing, lack.needsMore)
        if (table === undefined) return undefined
        this.#known.set(sourceId, table)
        // At the cap the fields that got no column go to `_more`, which may itself be missing.
        const rest = lackOf(table.layout, payloads)
        if (rest.needsMore) table = yield* addColumns(this.#sql, sourceId, [], true)
        if (table !== undefined) this.#known.set(sourceId, table)
      }
      return table
    },
  )

  /** Which of the waiting sources still wait; asked only while there are any. */
  readonly #forgetDrained = Effect.suspend(() =>
    Effect.map(
      this.#sql.unsafe<{ id: string }>(
        "SELECT id::text AS id FROM cabinet.source WHERE rows_waiting AND deleted_at IS NULL",
      ),
      (still) => {
        const ids = new Set(still.map((row) => Number(row.id)))
        for (const id of this.#waiting) if (!ids.has(id)) this.#waiting.delete(id)
      },
    ),
  )
}
