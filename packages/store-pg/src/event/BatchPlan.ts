/**
 * Turns the requests of a batch into the arrays of the accept statement. Which column takes which field is decided here,
 * before any SQL.
 */
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import { MORE_COLUMN, type RowPlan } from "@data-cabinet/core/row/RowPlan"
import { RowFault, rowJson } from "../row/EnsureColumns.ts"
import type { SourceTable } from "../row/SourceTable.ts"
import type { Batch, BatchTable } from "./Batch.ts"
import type { BodyKeys } from "./BodyLocks.ts"

/**
 * The table for a source's rows in a batch, with their plans in the order of its events. Undefined if the rows are
 * deferred (the table is locked) or have no table (it was dropped; `waits` is then false). A row that could not be
 * planned is deferred by itself.
 */
export type Target =
  | { readonly table: SourceTable; readonly waits: false; readonly plans: ReadonlyArray<RowPlan | RowFault> }
  | { readonly table: undefined; readonly waits: boolean }

/** Builds the arrays of a batch. `tableOf` returns a source's table, `keysOf` the lock keys of equal bodies. */
export const planBatch = (
  requests: ReadonlyArray<AcceptRequest>,
  tableOf: (sourceId: number) => Target,
  keysOf: BodyKeys,
): Batch => {
  const batch = {
    request: [] as Array<number>,
    sourceId: [] as Array<number>,
    version: [] as Array<number>,
    channel: [] as Array<string>,
    history: [] as Array<boolean>,
    empty: [] as Array<boolean>,
    fingerprint: [] as Array<string | null>,
    payload: [] as Array<string>,
    waits: [] as Array<boolean>,
  }
  const originals = {
    request: [] as Array<number>,
    body: [] as Array<Uint8Array>,
    bodyBytes: [] as Array<number>,
    contentType: [] as Array<string | null>,
    ip: [] as Array<string | null>,
    referer: [] as Array<string | null>,
    origin: [] as Array<string | null>,
    userAgent: [] as Array<string | null>,
    acceptLanguage: [] as Array<string | null>,
    charset: [] as Array<string>,
    charsetFrom: [] as Array<string>,
    replaced: [] as Array<number>,
  }
  const madeFor = { sourceId: [] as Array<number>, column: [] as Array<string>, n: [] as Array<number> }
  const recorded = new Set<string>()
  const staged = {
    request: [] as Array<number>,
    importId: [] as Array<number>,
    version: [] as Array<number>,
    first: [] as Array<number>,
    last: [] as Array<number>,
  }
  const bodies = { sourceId: [] as Array<number>, fingerprint: [] as Array<string> }
  const rows = new Map<number, { readonly table: SourceTable; readonly rows: Array<string>; planned: number }>()
  let n = 0
  for (const [index, request] of requests.entries()) {
    const target = tableOf(request.sourceId)
    for (const event of request.events) {
      n++
      batch.request.push(index)
      batch.sourceId.push(request.sourceId)
      batch.version.push(request.sourceVersion)
      batch.channel.push(request.channel)
      batch.history.push(request.history)
      batch.empty.push(event.empty)
      batch.payload.push(event.text)
      batch.fingerprint.push(event.fingerprint)
      if (event.fingerprint !== null) {
        bodies.sourceId.push(request.sourceId)
        bodies.fingerprint.push(event.fingerprint)
      }
      if (target.table === undefined || target.table.name === null) batch.waits.push(target.waits)
      else {
        let into = rows.get(request.sourceId)
        if (into === undefined) {
          into = { table: target.table, rows: [], planned: 0 }
          rows.set(request.sourceId, into)
        }
        const plan = target.plans[into.planned++]!
        batch.waits.push(plan instanceof RowFault)
        if (plan instanceof RowFault) continue
        for (const column of plan.unrecorded) {
          if (recorded.has(`${request.sourceId} ${column}`)) continue
          recorded.add(`${request.sourceId} ${column}`)
          madeFor.sourceId.push(request.sourceId)
          madeFor.column.push(column)
          madeFor.n.push(n)
        }
        into.rows.push(rowJson(plan, n))
      }
    }
    if (request.staged !== undefined) {
      staged.request.push(index)
      staged.importId.push(request.staged.importId)
      staged.version.push(request.sourceVersion)
      staged.first.push(request.staged.first)
      staged.last.push(request.staged.last)
    }
    const original = request.original
    if (original !== null) {
      originals.request.push(index)
      originals.body.push(original.body)
      originals.bodyBytes.push(original.bodyBytes)
      originals.contentType.push(original.contentType)
      originals.ip.push(original.ip)
      originals.referer.push(original.referer)
      originals.origin.push(original.origin)
      originals.userAgent.push(original.userAgent)
      originals.acceptLanguage.push(original.acceptLanguage)
      originals.charset.push(original.charset)
      originals.charsetFrom.push(original.charsetFrom)
      originals.replaced.push(original.replaced)
    }
  }
  const tables: Array<BatchTable> = [...rows.entries()]
    .filter(([, into]) => into.rows.length > 0)
    .sort(([a], [b]) => a - b)
    .map(([sourceId, { table, rows: targetRows }]) => ({
      sourceId,
      table: table.name!,
      columns: [...table.layout.columns.map((column) => column.name), ...(table.layout.hasMore ? [MORE_COLUMN] : [])],
      rows: `[${targetRows.join(",")}]`,
    }))
  const bodyKeys = keysOf(bodies)
  const locks = bodyKeys.toSorted()
  const distinct = [...new Set(locks)]
  return {
    ...batch,
    originals,
    madeFor,
    staged,
    bodyKeys,
    locks: distinct,
    distinct: distinct.length === locks.length,
    single: requests.every(({ events, original }) => events.length === 1 && original !== null),
    tables,
  }
}
