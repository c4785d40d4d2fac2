/**
 * Streams all rows of a selection in batches: from one snapshot, or page after page as a client of the API would.
 * Refusals come before the first row. A later failure ends the rows with an error, so that they are never taken for
 * complete.
 */
import { Context, Effect, Layer, Option, Result, type Scope } from "effect"
import { type StoreUnavailable, whenAvailable } from "../error/StoreUnavailable.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import type { Items } from "../pagination/Items.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import { Catalog, type ReadableTable } from "../row/Catalog.ts"
import { ReadError } from "../row/ReadError.ts"
import type { Column } from "../row/Table.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import { CabinetTimeZone } from "../selection/CabinetTimeZone.ts"
import type { SelectionError } from "../selection/SelectionError.ts"
import { refusedParam } from "../selection/RefusedParam.ts"
import { noSuchTable, type ParamPairs, selectionError, selectionParams } from "../selection/SelectionParams.ts"
import { selectionPlan } from "../selection/SelectionPlan.ts"
import { selectionSql } from "../selection/SelectionSql.ts"
import { type RowsPage, SelectRows } from "../selection/SelectRows.ts"
import type { DecimalDigits } from "./ExportFormat.ts"
import { RowSnapshots } from "./RowSnapshots.ts"

/** Which rows to export, and how. */
export interface ExportRequest {
  readonly schema: string
  readonly name: string
  /** Without `limit` and `cursor`: an export covers all rows. */
  readonly params: ParamPairs
  /** Reads page by page, without a snapshot. */
  readonly live: boolean
}

/** The rows of an export, and their columns. */
export interface ExportedRows {
  readonly columns: ReadonlyArray<Column>
  /** The declared digits of each column; null for a column without declared digits. */
  readonly declared: ReadonlyArray<DecimalDigits | null>
  /** False if the rows are read page by page. */
  readonly isSnapshot: boolean
  /** Readable once; throws the error that ends it early. */
  readonly batches: AsyncIterable<Items>
}

type Refused = SelectionError | ReadError | StoreUnavailable

const refusedPages = (params: ParamPairs): SelectionError | undefined => {
  const [name] = params.find(([one]) => one === "limit" || one === "cursor") ?? []
  return name === undefined
    ? undefined
    : selectionError("unknown_param", name, `${name} selects a page, and an export has all rows.`)
}

const walking = Effect.gen(function* () {
  const rows = yield* SelectRows
  return Effect.fnUntraced(function* ({
    schema,
    name,
    params,
  }: ExportRequest): Effect.fn.Return<ExportedRows, Refused> {
    const refused = refusedPages(params)
    if (refused !== undefined) return yield* refused
    const first: ParamPairs = [...params, ["limit", String(MAX_LIMIT)]]
    const page = (cursor: string | null) =>
      fromCall((call) =>
        rows.page({ schema, name, params: cursor === null ? first : [...first, ["cursor", cursor]] }, call),
      )
    const begun = yield* page(null)
    const context = yield* Effect.context()
    const batches = async function* () {
      for (let read: RowsPage = begun; ;) {
        if (read.items.length > 0) yield read.items
        if (read.nextCursor === null) return
        read = await Effect.runPromiseWith(context)(whenAvailable(page(read.nextCursor)))
      }
    }
    return { columns: begun.columns, declared: [], isSnapshot: false, batches: batches() }
  })
})

/** The most lookups of an object that changes while it is opened. */
const MAX_ATTEMPTS = 3

/** More rows than a table can have. */
const ALL_ROWS = Number.MAX_SAFE_INTEGER - 1

const changing = new ReadError({
  code: "table_busy",
  message: "The table keeps changing; try again soon.",
  retryAfter: 2,
})

const snapshots = Effect.gen(function* () {
  const catalog = yield* Catalog
  const reader = yield* RowSnapshots
  const timeZone = yield* CabinetTimeZone
  const keys = yield* CursorKeys

  const open = Effect.fnUntraced(function* (params: ParamPairs, table: ReadableTable) {
    const selection = yield* Effect.fromResult(selectionParams(params))
    const plan = yield* Effect.fromResult(selectionPlan(selection, table, yield* keys.key))
    const query = selectionSql({ ...plan, limit: ALL_ROWS }, timeZone)
    const opened = yield* Effect.acquireRelease(
      Effect.mapError(
        fromCall((call) => reader.open(query, call)),
        (error) => (error._tag === "RefusedValue" ? refusedParam(plan, query, error) : error),
      ),
      (snapshot) => Effect.sync(() => snapshot.close()),
      { interruptible: true },
    )
    const batches = async function* () {
      for (;;) {
        const next = await opened.next()
        if (Result.isFailure(next)) throw next.failure
        if (next.success === null) return
        yield next.success
      }
    }
    const declared = plan.showing.shown.map((column) => column.declared)
    return { columns: plan.showing.columns, declared, isSnapshot: true, batches: batches() }
  })

  return Effect.fnUntraced(function* ({
    schema,
    name,
    params,
  }: ExportRequest): Effect.fn.Return<ExportedRows, Refused, Scope.Scope> {
    // Refusals that do not depend on the object come before its lookup.
    const refused = refusedPages(params)
    if (refused !== undefined) return yield* refused
    yield* Effect.fromResult(selectionParams(params))
    for (let tries = MAX_ATTEMPTS; tries > 0; tries--) {
      const table = yield* catalog.find(schema, name)
      if (Option.isNone(table)) return yield* noSuchTable(schema, name)
      const opened = yield* Effect.result(open(params, table.value))
      if (Result.isSuccess(opened)) return opened.success
      const error = opened.failure
      if (error._tag !== "StaleObject") return yield* error
    }
    return yield* changing
  })
})

/** The rows can be read while the scope is open. */
export class ExportRows extends Context.Service<
  ExportRows,
  { readonly open: (request: ExportRequest) => Effect.Effect<ExportedRows, Refused, Scope.Scope> }
>()("@data-cabinet/core/export/ExportRows") {
  static readonly layer = Layer.effect(
    ExportRows,
    Effect.gen(function* () {
      const walk = yield* walking
      const snapshot = yield* snapshots
      return ExportRows.of({ open: (request) => (request.live ? walk(request) : snapshot(request)) })
    }),
  )

  /** For callers that can read only pages. */
  static readonly layerOfPages = Layer.effect(
    ExportRows,
    Effect.map(walking, (open) => ExportRows.of({ open })),
  )
}
