/** Reads a page of an object's rows by a selection. The API, the command line and the library all read rows through it. */
import { Context, Effect, Equal, Layer, Option, Result } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { encodeCursor, LONGEST_CURSOR } from "../pagination/Cursor.ts"
import { type CursorKey, CursorKeys } from "../pagination/CursorKey.ts"
import type { Page } from "../pagination/Page.ts"
import { Catalog, type ReadableTable } from "../row/Catalog.ts"
import { ReadError, type RefusedValue, type StaleObject } from "../row/ReadError.ts"
import { type FoundRows, MAX_POSITION_VALUE, MAX_ROW_BYTES, type PageQuery, RowReader } from "../row/RowReader.ts"
import type { Column } from "../row/Table.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import type { Selection } from "./Selection.ts"
import type { SelectionError } from "./SelectionError.ts"
import { type ParamPairs, selectionError, selectionParams, shown } from "./SelectionParams.ts"
import { type SelectionPlan, selectionPlan } from "./SelectionPlan.ts"
import { equalsShown, selectionSql } from "./SelectionSql.ts"

export interface RowsRequest {
  readonly schema: string
  readonly name: string
  readonly params: ParamPairs
}

/** A page of rows: each item is a Row as JSON, its keys in the order of `columns`. */
export interface RowsPage extends Page {
  readonly columns: ReadonlyArray<Column>
}

/**
 * Fails in this order: an unknown parameter, a malformed parameter, an object that does not exist, a selection that does
 * not fit the object's columns. Only then is anything read.
 */
export class SelectRows extends Context.Service<
  SelectRows,
  {
    readonly page: (request: RowsRequest) => Effect.Effect<RowsPage, SelectionError | ReadError | StoreUnavailable>
  }
>()("@data-cabinet/core/selection/SelectRows") {
  static readonly layer = Layer.effect(
    SelectRows,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const reader = yield* RowReader
      const timeZone = yield* CabinetTimeZone
      const keys = yield* CursorKeys
      const orRefused = Effect.fnUntraced(function* (
        { schema, name }: RowsRequest,
        found: Option.Option<ReadableTable>,
      ) {
        if (Option.isSome(found)) return found.value
        const message = `There is no readable table or view ${shown(name)} in schema ${shown(schema)}.`
        return yield* selectionError("no_such_table", null, message)
      })
      const read = Effect.fnUntraced(function* (selection: Selection, table: ReadableTable, key: CursorKey) {
        const plan = yield* Effect.fromResult(selectionPlan(selection, table, key))
        const query = selectionSql(plan, timeZone)
        const found = yield* instrument("rows.read", reader.read(query)).pipe(
          Effect.catchTag("RefusedValue", (refused) => Effect.fail(refusedParam(plan, query, refused))),
        )
        return yield* Effect.fromResult(pageOf(plan, found))
      })
      /** The error may be due to an outdated definition of the object: it is then looked up again and the read is retried. */
      const readAgain = Effect.fnUntraced(function* (
        request: RowsRequest,
        selection: Selection,
        key: CursorKey,
        before: ReadableTable,
        error: SelectionError | ReadError | StaleObject,
        tries: number,
      ): Effect.fn.Return<RowsPage, SelectionError | ReadError | StoreUnavailable> {
        if (error._tag === "ReadError" && error.code !== "query_failed") return yield* error
        const table = yield* orRefused(request, yield* catalog.find(request.schema, request.name))
        if (error._tag !== "StaleObject" && isSame(before, table)) return yield* error
        if (tries === 0) return yield* changing
        return yield* read(selection, table, key).pipe(
          Effect.catch((again) => readAgain(request, selection, key, table, again, tries - 1)),
        )
      })
      return SelectRows.of({
        page: Effect.fnUntraced(function* (request) {
          const selection = yield* Effect.fromResult(selectionParams(request.params))
          const table = yield* orRefused(request, yield* catalog.findCached(request.schema, request.name))
          const key = yield* keys.key
          return yield* read(selection, table, key).pipe(
            Effect.catch((error) => readAgain(request, selection, key, table, error, TRIES)),
          )
        }),
      })
    }),
  )
}

/** How often a read is retried because its object changed meanwhile. */
const TRIES = 3

const changing = new ReadError({
  code: "table_busy",
  message: "The table keeps changing; try again soon.",
  retryAfter: 2,
})

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
  if (nextCursor.length > LONGEST_CURSOR || position.some((value) => (value?.length ?? 0) > MAX_POSITION_VALUE)) {
    const message = `A page ends at a value of ${shown(plan.sort?.name ?? "the key")} that is too long for a cursor (over ${MAX_POSITION_VALUE} characters): sort by another column.`
    return Result.fail(selectionError("bad_selection", "sort", message))
  }
  return Result.succeed({ items, columns, hasMore, nextCursor })
}

/** How many rows up to the end of the page equal its last one, including those of previous pages. */
const equalsAtEnd = (plan: SelectionPlan, { items, positionOf }: FoundRows): number => {
  const hashOf = (item: number) => positionOf(item).at(-1)
  const hash = hashOf(items.length - 1)
  let equal = 1
  while (equal < items.length && hashOf(items.length - 1 - equal) === hash) equal++
  return equal === items.length && plan.after?.at(-2) === hash ? equal + equalsShown(plan) : equal
}

/** Which parameter is at fault for a value that PostgreSQL could not read: a filter's, or the cursor. */
const refusedParam = (plan: SelectionPlan, { values }: PageQuery, { index, message }: RefusedValue): SelectionError => {
  const value = values[index]
  const at = plan.filters.findIndex((filter) => filter.value === value?.text && filter.column.type.sql === value.type)
  const filter = plan.filters[at]
  if (filter === undefined) {
    return selectionError("bad_cursor", "cursor", `The position in cursor can no longer be read: ${message}.`)
  }
  const of = `column ${shown(filter.column.name)} of type ${filter.column.type.name}`
  return selectionError("bad_fv", "fv", `fv number ${at + 1} does not fit ${of}: ${message}.`)
}
