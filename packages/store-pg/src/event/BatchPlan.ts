/** Converts requests to the batch that the accept statement takes. Assigns fields to columns before any SQL. */
import type { FilteredDeliveries } from "@data-cabinet/core/delivery/FilteredDeliveries"
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { isForFollower } from "../delivery/FanOutStatement.ts"
import { type PlannedRow, RowFault, rowJson, ShortRow } from "../row/EnsureColumns.ts"
import type { SourceTable } from "../row/SourceTable.ts"
import type {
  Batch,
  BatchEvent,
  BatchNotice,
  BatchOriginal,
  BatchPassed,
  BatchProof,
  BatchSlice,
  BatchTable,
  CreatedColumn,
} from "./Batch.ts"
import type { Body, BodyKeys } from "./BodyLocks.ts"

/**
 * The table for a source's rows in a batch, with their plans in the order of its events. Undefined if the rows are
 * deferred (the table is locked) or have no table (it was dropped; `waits` is then false). A row that could not be
 * planned, or lacks a column, is deferred by itself.
 */
export type Target =
  | { readonly table: SourceTable; readonly waits: false; readonly plans: ReadonlyArray<PlannedRow> }
  | { readonly table: undefined; readonly waits: boolean }

/** The rows of one source, as JSON, and how many of its plans have been used. */
interface TableRows {
  readonly table: SourceTable
  readonly rows: Array<string>
  planned: number
}

class BatchPlan {
  readonly #events: Array<BatchEvent> = []
  readonly #originals: Array<BatchOriginal> = []
  /** Null until a source has an address with a filter. */
  #passed: Array<BatchPassed> | null = null
  /** By the position of an event; null until events pass many filters. */
  #queued: Map<number, ReadonlyArray<number>> | null = null
  #hasSpam = false
  #hasVerdicts = false
  #hasKept = false
  #hasOthers = false
  #fansOut = false
  readonly #slices: Array<BatchSlice> = []
  readonly #notices: Array<BatchNotice> = []
  readonly #proofs: Array<BatchProof> = []
  readonly #created: Array<CreatedColumn> = []
  /** The columns in `#created`, by source and name. */
  readonly #recorded = new Set<string>()
  /** The events with a fingerprint, in order. */
  readonly #bodies: Array<Body> = []
  readonly #rows = new Map<number, TableRows>()
  #single = true

  add(request: AcceptRequest, index: number, target: Target): void {
    const { sourceId, sourceVersion: version, events, original, staged, notice, proof, filtered, verdict } = request
    // The table is of the request's version, or the statement refuses the request.
    if (target.table?.fansOut ?? true) this.#fansOut = true
    if (filtered !== undefined) this.#addPassed(filtered.passed, notice?.aboutAddress ?? null)
    for (const event of events) {
      if (event.fingerprint !== null) this.#bodies.push({ sourceId, fingerprint: event.fingerprint })
      const n = this.#events.length + 1
      if (event.spam !== undefined) this.#hasSpam = true
      // Spam has no row.
      const waits = event.spam === undefined && this.#addRow(sourceId, target, n)
      this.#events.push({ index, request, event, waits })
    }
    if (original !== null) {
      this.#originals.push({ index, original, verdict })
      if (original.kept !== undefined) this.#hasKept = true
      if (original.others !== undefined) this.#hasOthers = true
    }
    if (events.length !== 1 || original === null) this.#single = false
    if (verdict !== undefined) this.#hasVerdicts = true
    if (staged !== undefined) this.#slices.push({ index, version, slice: staged })
    if (notice !== undefined) this.#notices.push({ index, sourceId, version, notice })
    if (proof !== undefined) this.#proofs.push({ index, sourceId, version, proof })
  }

  batch(keysOf: BodyKeys): Batch {
    const bodyKeys = keysOf(this.#bodies)
    const locks: Array<bigint> = []
    for (const key of bodyKeys.toSorted()) if (key !== locks.at(-1)) locks.push(key)
    return {
      events: this.#events,
      originals: this.#originals,
      passed: this.#passed,
      queued: this.#queued === null ? null : this.#events.map((_, index) => this.#queued?.get(index + 1) ?? null),
      hasSpam: this.#hasSpam,
      hasVerdicts: this.#hasVerdicts,
      hasKept: this.#hasKept,
      hasOthers: this.#hasOthers,
      fansOut: this.#fansOut,
      slices: this.#slices,
      notices: this.#notices,
      proofs: this.#proofs,
      created: this.#created,
      tables: this.#tables(),
      bodyKeys,
      locks,
      distinct: locks.length === bodyKeys.length,
      single: this.#single,
    }
  }

  /** Adds the row of the event at position `n`, if it has one; returns whether it is deferred. */
  #addRow(sourceId: number, target: Target, n: number): boolean {
    if (target.table === undefined || target.table.name === null) return target.waits
    let into = this.#rows.get(sourceId)
    if (into === undefined) {
      into = { table: target.table, rows: [], planned: 0 }
      this.#rows.set(sourceId, into)
    }
    const plan = target.plans[into.planned++]!
    if (plan instanceof RowFault || plan instanceof ShortRow) return true
    for (const name of plan.unrecorded) this.#addCreated({ sourceId, name, n })
    into.rows.push(rowJson(plan, n))
    return false
  }

  /** Records the filters that the next events pass. `about`: the address that a notice is about, which is not sent it. */
  #addPassed(addresses: FilteredDeliveries["passed"], about: number | null): void {
    this.#passed ??= []
    const isQueued = isForFollower(addresses)
    if (isQueued) this.#queued ??= new Map()
    for (const [index, ids] of addresses.entries()) {
      const n = this.#events.length + index + 1
      if (isQueued) this.#queued!.set(n, about === null ? ids : ids.filter((id) => id !== about))
      else for (const addressId of ids) this.#passed.push({ n, addressId })
    }
  }

  /** Only the first event with a value for the column counts. */
  #addCreated(created: CreatedColumn): void {
    const key = `${created.sourceId} ${created.name}`
    if (this.#recorded.has(key)) return
    this.#recorded.add(key)
    this.#created.push(created)
  }

  #tables(): ReadonlyArray<BatchTable> {
    return [...this.#rows.entries()]
      .filter(([, { rows }]) => rows.length > 0)
      .sort(([a], [b]) => a - b)
      .map(([sourceId, { table, rows }]) => ({
        sourceId,
        table: table.name!,
        columns: [...table.layout.columns.map((column) => column.name), ...(table.layout.hasMore ? [MORE_COLUMN] : [])],
        rows: `[${rows.join(",")}]`,
      }))
  }
}

/** Plans a batch. `tableOf` returns a source's table, `keysOf` the lock keys of equal bodies. */
export const planBatch = (
  requests: ReadonlyArray<AcceptRequest>,
  tableOf: (sourceId: number) => Target,
  keysOf: BodyKeys,
): Batch => {
  const plan = new BatchPlan()
  for (const [index, request] of requests.entries()) plan.add(request, index, tableOf(request.sourceId))
  return plan.batch(keysOf)
}
