/**
 * Writes rows of the old table into the new one: each is made from its event, and cells and rows that cannot be made from
 * one are moved as they are. A row that the old table no longer has leaves the new one.
 *
 * Columns are only ever added here, when an event needs one, as accepting an event would.
 */
import type { FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import { NotRebuilt, type RebuildPlan, type RebuiltColumn } from "@data-cabinet/core/row/RebuildStore"
import { MORE_COLUMN, type MissingColumn, nameColumns, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { readableName } from "@data-cabinet/core/row/ReadableName"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import type { ColdActs } from "../cold/ColdActs.ts"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { isConflict, isUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import { planRows, RowFault, rowJson } from "./EnsureColumns.ts"
import * as Statement from "./RebuildStatement.ts"
import { loadSourceTable, type SourceTable } from "./SourceTable.ts"
import { payloadChange, RebuiltPayload } from "./RebuiltPayload.ts"

/** The payloads that are planned together have about this many bytes. */
const CHUNK_BYTES = 2 * 1_048_576

interface StoredRow {
  readonly id: string
  /** Null if there is no event to make the row from. */
  readonly payload: string | null
}

/** What the new table is at a time: restored if the transaction that changed it fails. */
interface Shape {
  readonly columns: ReadonlyArray<RebuiltColumn>
  readonly hasMore: boolean
}

const columnsOf = ({ columns, hasMore }: Shape): ReadonlyArray<FieldColumn> =>
  hasMore ? [...columns, { field: MORE_COLUMN, name: MORE_COLUMN, kind: "jsonb" }] : columns

export class RebuildRows {
  readonly #sql: PgClient.PgClient
  readonly #cold: ColdActs["Service"]
  readonly #sourceId: number
  readonly #plan: RebuildPlan
  readonly #relation: string
  readonly #carriedFields: ReadonlySet<string>
  #shape: Shape

  constructor(sql: PgClient.PgClient, sourceId: number, plan: RebuildPlan, cold: ColdActs["Service"]) {
    this.#sql = sql
    this.#cold = cold
    this.#sourceId = sourceId
    this.#plan = plan
    this.#relation = Statement.newTable(sourceId)
    this.#carriedFields = new Set(plan.columns.filter(({ carried }) => carried).map(({ field }) => field))
    this.#shape = plan
  }

  /** The columns of the new table, with `_more` last. */
  get columns(): ReadonlyArray<FieldColumn & { readonly was?: string | null }> {
    return columnsOf(this.#shape)
  }

  /** Runs a transaction; if it fails, the columns are those from before. */
  readonly inTransaction = <A, E>(work: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const before = this.#shape
      return Effect.onError(this.#sql.withTransaction(work), () =>
        Effect.sync(() => {
          this.#shape = before
        }),
      )
    })

  /** The old table as it is now. Fails if it is gone, or if its columns are not those that the plan is about. */
  get old() {
    return Effect.gen({ self: this }, function* () {
      const table = yield* loadSourceTable(this.#sql, this.#sourceId)
      if (table === undefined || table.name === null) return yield* new NotRebuilt({ fact: { is: "dropped" } })
      const now = new Map(table.layout.columns.map((column) => [column.name, column]))
      for (const { was, field } of this.#plan.columns) {
        const found = now.get(was!)
        if (found?.field !== field || found.kind !== this.#plan.typesWere.get(was!)) {
          return yield* new NotRebuilt({ fact: { is: "changed" } })
        }
      }
      return table
    })
  }

  /** Writes these rows as the old table has them now, within a transaction. */
  write(ids: ReadonlyArray<string>) {
    return Effect.gen({ self: this }, function* () {
      if (ids.length === 0) return
      const table = yield* this.old
      yield* this.#followCarried(table)
      yield* this.#cold.need(ids.map(Number))
      const sizes = yield* this.#sql.unsafe<{ id: string; bytes: number }>(Statement.ROW_BYTES, [
        int8Array(ids.map(BigInt)),
      ])
      let chunk: Array<string> = []
      let bytes = 0
      for (const each of sizes) {
        chunk.push(each.id)
        bytes += each.bytes
        if (bytes < CHUNK_BYTES) continue
        yield* this.#writeChunk(table, chunk)
        chunk = []
        bytes = 0
      }
      yield* this.#writeChunk(table, chunk)
    }).pipe(
      Effect.mapError((error) =>
        SqlError.isSqlError(error) && !isUnavailable(error) && !isConflict(error)
          ? new NotRebuilt({ fact: { is: "refused", detail: sqlMessage(error) } })
          : error,
      ),
    )
  }

  #writeChunk(table: SourceTable, ids: ReadonlyArray<string>) {
    return Effect.gen({ self: this }, function* () {
      if (ids.length === 0) return
      const old = Statement.oldTable(table.name!)
      const rows = yield* this.#sql.unsafe<StoredRow>(Statement.rowPayloads(old), [int8Array(ids.map(BigInt))])
      const there = new Set(rows.map(({ id }) => id))
      const gone = ids.filter((id) => !there.has(id))
      if (gone.length > 0) {
        yield* this.#sql.unsafe(`DELETE FROM ${this.#relation} WHERE _event_id = ANY ($1::int8[])`, [
          int8Array(gone.map(BigInt)),
        ])
      }
      const made = rows.filter(({ payload }) => payload !== null)
      const faulty = yield* this.#writeMade(table, made)
      yield* this.#moveRows(table, [...rows.filter(({ payload }) => payload === null), ...faulty])
    })
  }

  /** Makes rows from their events. Returns those that the program cannot plan. */
  #writeMade(table: SourceTable, rows: ReadonlyArray<StoredRow>) {
    return Effect.gen({ self: this }, function* () {
      if (rows.length === 0) return []
      const change = payloadChange(this.#plan, this.#carriedFields)
      const sources = rows.map(({ payload }) => new RebuiltPayload(payload!, change))
      let planned = planRows(new TableLayout(this.columns), sources)
      for (let n = 0; n < 2 && (planned.missing.length > 0 || planned.needsMore); n++) {
        yield* this.#addColumns(table, planned.missing, planned.needsMore)
        planned = planRows(new TableLayout(this.columns), sources)
      }
      yield* Effect.yieldNow
      const json: Array<string> = []
      const faulty: Array<StoredRow> = []
      for (const [index, plan] of planned.plans.entries()) {
        if (plan instanceof RowFault) faulty.push(rows[index]!)
        else json.push(rowJson(plan, rows[index]!.id))
      }
      if (json.length > 0) {
        const values = this.columns.map((column) => {
          const isCarried = this.#carriedFields.has(column.field) && column.was !== undefined && column.was !== null
          return isCarried ? `t.${quoteName(column.was)}` : `r.${quoteName(column.name)}`
        })
        yield* this.#sql.unsafe(
          this.#insert(
            values,
            `json_populate_recordset(NULL::${this.#relation}, $1::json) r JOIN ${Statement.oldTable(table.name!)} t ON t._event_id = r._event_id`,
          ),
          [`[${json.join(",")}]`],
        )
      }
      return faulty
    })
  }

  /** Moves rows as they are. */
  #moveRows(table: SourceTable, rows: ReadonlyArray<StoredRow>) {
    return Effect.gen({ self: this }, function* () {
      const [first] = rows
      if (first === undefined) return
      const old = Statement.oldTable(table.name!)
      const ids = int8Array(rows.map(({ id }) => BigInt(id)))
      const moved = new Set(this.columns.map(({ name, was }) => was ?? name))
      const left = [...table.layout.columns.map(({ name }) => name), ...(table.layout.hasMore ? [MORE_COLUMN] : [])]
      const lost = left.filter((name) => !moved.has(name)).map((name) => `t.${quoteName(name)} IS NOT NULL`)
      const [losing] =
        lost.length === 0
          ? []
          : yield* this.#sql.unsafe<{ id: string }>(
              `SELECT t._event_id::text AS id FROM ${old} t WHERE t._event_id = ANY ($1::int8[]) AND (${lost.join(" OR ")}) LIMIT 1`,
              [ids],
            )
      if (!this.#plan.carriesRows || losing !== undefined) {
        return yield* new NotRebuilt({ fact: { is: "without_event", eventId: losing?.id ?? first.id } })
      }
      const known = new Set(left)
      const values = this.columns.map(({ name, was }) => {
        const from = was ?? name
        return known.has(from) ? `t.${quoteName(from)}` : "NULL"
      })
      yield* this.#sql.unsafe(this.#insert(values, `${old} t WHERE t._event_id = ANY ($1::int8[])`), [ids])
    })
  }

  /** A row that is there already is written again whole. */
  #insert(values: ReadonlyArray<string>, from: string): string {
    const names = this.columns.map(({ name }) => quoteName(name))
    const set = ["_received_at", ...names].map((name) => `${name} = excluded.${name}`)
    return `INSERT INTO ${this.#relation} (${["_event_id", "_received_at", ...names].join(", ")})
SELECT ${["t._event_id", "t._received_at", ...values].join(", ")} FROM ${from}
ON CONFLICT (_event_id) DO UPDATE SET ${set.join(", ")}`
  }

  /** Fields that are moved as they are may have got another column since. */
  #followCarried({ layout }: SourceTable) {
    const known = new Set(this.#shape.columns.map(({ was }) => was))
    const added = layout.columns
      .filter(({ field, name }) => this.#carriedFields.has(field) && !known.has(name))
      .map((column): RebuiltColumn => ({ ...column, was: column.name, carried: true }))
    return added.length === 0 ? Effect.void : this.#create(added, false)
  }

  /** A column that the old table has too keeps its name. */
  #addColumns({ layout }: SourceTable, missing: ReadonlyArray<MissingColumn>, needsMore: boolean) {
    const taken = new Set(this.columns.map(({ name }) => name))
    const continued = new Set(this.#shape.columns.map(({ was }) => was))
    const isFree = (name: string) => !taken.has(name) && !continued.has(name)
    const named = nameColumns(new TableLayout(this.columns), missing).map((column): RebuiltColumn => {
      const old = layout.of(column.field).find(({ kind, name }) => kind === column.kind && isFree(name))
      const name = old?.name ?? readableName(column.name, taken, "field")
      taken.add(name)
      return { ...column, name, was: old?.name ?? null, carried: false }
    })
    return this.#create(named, needsMore && !this.#shape.hasMore)
  }

  #create(columns: ReadonlyArray<RebuiltColumn>, more: boolean) {
    const clauses = [
      ...columns.map(({ name, kind }) => `ADD COLUMN ${quoteName(name)} ${kind}`),
      ...(more ? [`ADD COLUMN ${MORE_COLUMN} jsonb`] : []),
    ]
    if (clauses.length === 0) return Effect.void
    return Effect.map(this.#sql.unsafe(`ALTER TABLE ${this.#relation} ${clauses.join(", ")}`), () => {
      this.#shape = {
        columns: [...this.#shape.columns, ...columns],
        hasMore: this.#shape.hasMore || more,
      }
    })
  }
}
