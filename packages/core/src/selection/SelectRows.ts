/** Reads a page of an object's rows by a selection. The API, the command line and the library all read rows through it. */
import { Context, Effect, Equal, Layer, Option, Result } from "effect"
import type { AbortableCall } from "../runtime/AbortableCall.ts"
import { runResult } from "../runtime/FromResult.ts"
import { beginStep } from "../runtime/Instrument.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { encodeCursor, MAX_CURSOR_LENGTH } from "../pagination/Cursor.ts"
import { type CursorKey, CursorKeys } from "../pagination/CursorKey.ts"
import type { Page } from "../pagination/Page.ts"
import type { ReadScopeOrAll } from "../key/ReadScope.ts"
import { listedOid } from "../row/Tables.ts"
import { Catalog, type ReadableTable } from "../row/Catalog.ts"
import { ReadError, type StaleObject } from "../row/ReadError.ts"
import {
  type FoundRows,
  MAX_POSITION_VALUE_LENGTH,
  MAX_ROW_BYTES,
  type PageQuery,
  type ReadResult,
  RowReader,
} from "../row/RowReader.ts"
import type { Column } from "../row/Table.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import type { Selection } from "./Selection.ts"
import type { SelectionError } from "./SelectionError.ts"
import { refusedParam } from "./RefusedParam.ts"
import { noSuchTable, type ParamPairs, selectionError, selectionParams, shown } from "./SelectionParams.ts"
import { type SelectionPlan, selectionPlan } from "./SelectionPlan.ts"
import { equalsShown, selectionSql } from "./SelectionSql.ts"

/** An object, and the parameters that select its rows. */
export interface RowsRequest {
  readonly schema: string
  readonly name: string
  readonly params: ParamPairs
  /**
   * Of the shown columns, the ones to read. They are not part of the selection: a cursor of one page is valid for other columns
   * of the next.
   */
  readonly reads?: ReadonlyArray<string>
  /** The reader's scope; absent or null for the whole cabinet. */
  readonly scope?: ReadScopeOrAll
}

/** A page of rows: each item is a Row as JSON, its keys in the order of `columns`. */
export interface RowsPage extends Page {
  readonly columns: ReadonlyArray<Column>
}

type RowsResult = Result.Result<RowsPage, SelectionError | ReadError | StoreUnavailable>

/**
 * Fails in this order: an unknown parameter, a malformed parameter, an object that does not exist, a selection that does
 * not fit the object's columns. Only then is anything read. A call that is aborted ends the read.
 */
export class SelectRows extends Context.Service<
  SelectRows,
  {
    readonly page: (request: RowsRequest, call: AbortableCall) => Promise<RowsResult>
  }
>()("@data-cabinet/core/selection/SelectRows") {
  static readonly layer = Layer.effect(
    SelectRows,
    Effect.gen(function* () {
      const rows = new RowSelector({
        catalog: yield* Catalog,
        reader: yield* RowReader,
        timeZone: yield* CabinetTimeZone,
        keys: yield* CursorKeys,
      })
      return SelectRows.of({ page: (request, call) => rows.page(request, call) })
    }),
  )
}

interface Ports {
  readonly catalog: Catalog["Service"]
  readonly reader: RowReader["Service"]
  readonly timeZone: string
  readonly keys: CursorKeys["Service"]
}

class RowSelector {
  readonly #ports: Ports
  /** Loaded with the first page. */
  #key: CursorKey | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  async page(request: RowsRequest, call: AbortableCall): Promise<RowsResult> {
    const { catalog, keys } = this.#ports
    const selection = selectionParams(request.params)
    if (Result.isFailure(selection)) return Result.fail(selection.failure)
    const scope = request.scope ?? null
    // Look up nothing that the scope does not list.
    if (scope !== null && listedOid(scope, request.schema, request.name) === undefined) {
      return Result.fail(noSuchTable(request.schema, request.name))
    }
    let table = scope === null ? catalog.cached(request.schema, request.name) : undefined
    if (table === undefined) {
      const found = await this.#find(request, call)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      table = found.success
    }
    if (this.#key === undefined) {
      const key = await runResult(keys.key, call.context, call)
      if (Result.isFailure(key)) return Result.fail(key.failure)
      this.#key = key.success
    }
    let read = await this.#read({ selection: selection.success, reads: request.reads }, table, this.#key, call)
    // An outdated definition of the object may have caused the error: look it up again and retry.
    for (let tries = MAX_ATTEMPTS; Result.isFailure(read); tries--) {
      const error = read.failure
      if (call.isAborted) return changing
      if (error._tag === "ReadError" && error.code !== "query_failed") return Result.fail(error)
      const found = await this.#find(request, call)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      if (error._tag !== "StaleObject" && isSame(table, found.success)) return Result.fail(error)
      if (tries === 0) return changing
      table = found.success
      read = await this.#read({ selection: selection.success, reads: request.reads }, table, this.#key, call)
    }
    return scope === null ? Result.succeed(read.success) : this.#ifListed(request, read.success, call)
  }

  /**
   * If another object of the same name replaced the object during the read, and is not listed, its rows are not shown.
   */
  async #ifListed(request: RowsRequest, page: RowsPage, call: AbortableCall): Promise<RowsResult> {
    const found = await this.#find(request, call)
    return Result.isFailure(found) ? Result.fail(found.failure) : Result.succeed(page)
  }

  async #find(
    { schema, name, scope = null }: RowsRequest,
    call: AbortableCall,
  ): Promise<Result.Result<ReadableTable, SelectionError | StoreUnavailable>> {
    const found = await runResult(this.#ports.catalog.find(schema, name), call.context, call)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    if (Option.isSome(found.success)) {
      const isListed = scope === null || listedOid(scope, schema, name) === found.success.value.oid
      if (isListed) return Result.succeed(found.success.value)
    }
    return Result.fail(noSuchTable(schema, name))
  }

  async #read(
    { selection, reads }: { readonly selection: Selection; readonly reads: RowsRequest["reads"] },
    table: ReadableTable,
    key: CursorKey,
    call: AbortableCall,
  ): Promise<Result.Result<RowsPage, SelectionError | ReadError | StaleObject>> {
    const plan = Result.map(selectionPlan(selection, table, key), (whole) => reading(whole, reads))
    if (Result.isFailure(plan)) return Result.fail(plan.failure)
    const query = selectionSql(plan.success, this.#ports.timeZone)
    const found = await this.#readInstrumented(query, call)
    if (Result.isSuccess(found)) return pageOf(plan.success, found.success)
    const error = found.failure
    return Result.fail(error._tag === "RefusedValue" ? refusedParam(plan.success, query, error) : error)
  }

  async #readInstrumented(query: PageQuery, call: AbortableCall): Promise<ReadResult> {
    const step = beginStep("rows.read", call.context)
    try {
      const found = await this.#ports.reader.read(query, call)
      if (call.isAborted) step.abort()
      else step.end(found)
      return found
    } catch (fault) {
      if (call.isAborted) step.abort()
      else step.fault(fault)
      throw fault
    }
  }
}

/** The plan with only these of its shown columns. */
const reading = (plan: SelectionPlan, reads: RowsRequest["reads"]): SelectionPlan => {
  if (reads === undefined) return plan
  const names = new Set(reads)
  const showing = {
    shown: plan.showing.shown.filter(({ name }) => names.has(name)),
    columns: plan.showing.columns.filter(({ name }) => names.has(name)),
  }
  return { ...plan, showing }
}

/** The most attempts to read an object that keeps changing. */
const MAX_ATTEMPTS = 3

const changing = Result.fail(
  new ReadError({ code: "table_busy", message: "The table keeps changing; try again soon.", retryAfter: 2 }),
)

const isSame = (before: ReadableTable, now: ReadableTable): boolean =>
  before === now || (before.oid === now.oid && Equal.equals(before.columns, now.columns))

const pageOf = (plan: SelectionPlan, found: FoundRows): Result.Result<RowsPage, SelectionError | ReadError> => {
  const { items, hasMore } = found
  const { columns } = plan.showing
  if (!hasMore) return Result.succeed({ items, columns, hasMore, nextCursor: null })
  if (items.length === 0) {
    const message = `A row is larger than ${MAX_ROW_BYTES / 1024 / 1024} MB, which is the maximum: request fewer columns with col.`
    return Result.fail(new ReadError({ code: "query_failed", message, retryAfter: 0 }))
  }
  const position = found.positionOf(items.length - 1)
  const counted = plan.table.identity === "text" ? [...position, String(equalsAtEnd(plan, found))] : position
  const nextCursor = encodeCursor(plan.walk, counted)
  if (
    nextCursor.length > MAX_CURSOR_LENGTH ||
    position.some((value) => (value?.length ?? 0) > MAX_POSITION_VALUE_LENGTH)
  ) {
    const message = `A page ends at a value of ${shown(longest(plan, position))} that is too long for a cursor (over ${MAX_POSITION_VALUE_LENGTH} characters): sort by another column.`
    return Result.fail(selectionError("bad_selection", "sort", message))
  }
  return Result.succeed({ items, columns, hasMore, nextCursor })
}

/** The name of the sort column with the longest value. */
const longest = ({ sort, thenBy }: SelectionPlan, position: ReadonlyArray<string | null>): string => {
  const names = sort === null ? [] : [sort.name, ...thenBy.map(({ column }) => column.name)]
  const length = (at: number) => position[at]?.length ?? 0
  const at = names.reduce((best, _, each) => (length(each) > length(best) ? each : best), 0)
  return names[at] ?? "the key"
}

/** How many rows up to the end of the page equal its last one, including those of previous pages. */
const equalsAtEnd = (plan: SelectionPlan, { items, positionOf }: FoundRows): number => {
  const hashOf = (item: number) => positionOf(item).at(-1)
  const hash = hashOf(items.length - 1)
  let equal = 1
  while (equal < items.length && hashOf(items.length - 1 - equal) === hash) equal++
  return equal === items.length && plan.after?.at(-2) === hash ? equal + equalsShown(plan) : equal
}
