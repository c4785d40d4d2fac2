/**
 * Reads the rows of a page where the read can do no harm: as the reader, read-only, within limits. The query defines rows
 * and columns in SQL; how values are transferred, and how JSON is written from them, is up to the adapter.
 */
import { Context, type Result } from "effect"
import type { Items } from "../pagination/Items.ts"
import type { AbortableCall } from "../runtime/AbortableCall.ts"
import type { ReadableColumn, ReadableTable } from "./Catalog.ts"
import type { ColumnType } from "./ColumnType.ts"
import type { ReadError, RefusedValue, StaleObject } from "./ReadError.ts"

/** A row that is longer than this in transfer is not shown: the driver accepts no message over 16 MiB. */
export const MAX_ROW_BYTES = 15 * 1024 * 1024

/** A cursor cannot carry a position value that is longer than this as text; such a value is cut one character later. */
export const MAX_POSITION_VALUE_LENGTH = 4_000

/** A parameter's text, and the type that it has in the query. */
export interface QueryValue {
  readonly text: string
  /** The type's name, quoted; the query uses it only if `like` is null. */
  readonly type: string
  /** SQL of a column of the query's object whose type the parameter takes; null if the query names the type. */
  readonly like: string | null
}

/** One of the values that identify a row's position. */
export interface PositionColumn {
  /** The name of its column in the query, quoted. */
  readonly name: string
  /** The index of the shown column with this value; null if it is not shown. */
  readonly shown: number | null
  readonly type: Pick<ColumnType, "sql" | "runsNoUserCode">
}

/** The conditions and the order of a page's rows. */
export interface ComparedColumns {
  readonly filters: ReadonlyArray<{
    readonly column: ReadableColumn
    readonly condition: string
    /** True if it is an alternative to the filter before it. */
    readonly or?: true
  }>
  readonly period: { readonly column: ReadableColumn } | null
  /** The first sort; null for the object's own order. */
  readonly sort: ReadableColumn | null
}

/** The filters in their groups: a row must match at least one filter of every group. */
export const filterGroups = <F extends { readonly or?: true | undefined }>(
  filters: ReadonlyArray<F>,
): ReadonlyArray<ReadonlyArray<F>> => {
  const groups: Array<Array<F>> = []
  for (const filter of filters) {
    const last = groups.at(-1)
    if (filter.or === true && last !== undefined) last.push(filter)
    else groups.push([filter])
  }
  return groups
}

/** The query of a page, and the facts that an adapter needs to run it. */
export interface PageQuery {
  /** The object that is read: reads of one object never use all the capacity of the others. */
  readonly table: ReadableTable
  readonly compared: ComparedColumns
  /** Selects the rows of the page and one more, in order; the columns are named by `shownColumn`, or in `position`. */
  readonly text: string
  readonly values: ReadonlyArray<QueryValue>
  /**
   * A row's columns, in this order. The same array for the same object and choice of columns, so that derived work can
   * be cached by it.
   */
  readonly shown: ReadonlyArray<ReadableColumn>
  readonly position: ReadonlyArray<PositionColumn>
  readonly limit: number
  /** False if functions that a customer wrote may run: the session is reset afterwards. */
  readonly runsNoUserCode: boolean
  /** True if the best plan depends on the values: the query is then planned for every read. */
  readonly replan: boolean
}

/** The quoted name of the column in the query that has the shown value with this index. */
export const shownColumn = (index: number): string => `"c${index}"`

/** The rows that were found. */
export interface FoundRows {
  /** Each row as JSON. There are fewer than the limit if a page or a row is too long, and none if the first row is. */
  readonly items: Items
  readonly hasMore: boolean
  /**
   * The values of an item's position, as texts that PostgreSQL converts back to the same values. Available for the last
   * item, and for all items if rows are distinguished by their text.
   */
  readonly positionOf: (item: number) => ReadonlyArray<string | null>
}

/** The rows of a page, or why they could not be read. */
export type ReadResult = Result.Result<FoundRows, ReadError | RefusedValue | StaleObject>

/**
 * Runs a page's query in a read-only transaction of the reader role, under a time limit and a lock limit. Fails with
 * `StaleObject` if the object no longer has the version that the query was written for. A call that is aborted cancels the
 * query in the database.
 */
export class RowReader extends Context.Service<
  RowReader,
  { readonly read: (query: PageQuery, call: AbortableCall) => Promise<ReadResult> }
>()("@data-cabinet/core/row/RowReader") {}
