/**
 * Reads the rows of a page where it can do no harm: as the reader, read-only, within its limits. The query says which rows
 * and columns in SQL; how their values are sent, and how JSON is written of them, is the adapter's.
 */
import { Context, type Effect } from "effect"
import type { Items } from "../pagination/Items.ts"
import type { ReadableColumn, ReadableTable } from "./Catalog.ts"
import type { ColumnType } from "./ColumnType.ts"
import type { ReadError, RefusedValue, StaleObject } from "./ReadError.ts"

/** A row longer than this as it is sent is not shown: the driver takes no message over 16 MiB. */
export const MAX_ROW_BYTES = 15 * 1024 * 1024

/** A value of a position that is longer as text cannot be carried in a cursor; it is cut one character later. */
export const MAX_POSITION_VALUE = 4_000

/** A parameter's text, and the type that the query casts it to. */
export interface QueryValue {
  readonly text: string
  readonly type: string
}

/** One of the values by which a row is found again. */
export interface PositionColumn {
  /** The column of the query that has it, quoted. */
  readonly name: string
  /** Which of the shown columns that is; null for one that is not shown. */
  readonly shown: number | null
  readonly type: Pick<ColumnType, "sql" | "runsNoUserCode">
}

export interface PageQuery {
  /** The object that is read: reads of one object never take all places of the others. */
  readonly table: ReadableTable
  /** Selects the rows of the page and one more, in their order; the columns are named by `shownColumn`, or in `position`. */
  readonly text: string
  readonly values: ReadonlyArray<QueryValue>
  /** What a row shows, in this order. The same array for one object and choice of columns, so that work may be kept by it. */
  readonly shown: ReadonlyArray<ReadableColumn>
  readonly position: ReadonlyArray<PositionColumn>
  readonly limit: number
  /** False when functions that a customer wrote may run: the session is put back in order afterwards. */
  readonly runsNoUserCode: boolean
  /** True where the best way to the rows depends on the values: it is then looked for at every read. */
  readonly replan: boolean
}

/** The column of a query's text that has a row's shown value of this index, quoted. */
export const shownColumn = (index: number): string => `"c${index}"`

/** The rows that were found. */
export interface FoundRows {
  /** Each row as JSON; fewer than the limit where a page or a row is too long, and none where the first row is. */
  readonly items: Items
  readonly hasMore: boolean
  /** The values of an item's position, as texts that PostgreSQL reads as the same values. */
  readonly positionOf: (item: number) => ReadonlyArray<string | null>
}

/**
 * Runs a page's query in a read-only transaction of the reader role, under a time limit and a lock limit. Fails with
 * `StaleObject` where the object has not the version any more that the query was written for. Interrupting it cancels the
 * query in the database.
 */
export class RowReader extends Context.Service<
  RowReader,
  { readonly read: (query: PageQuery) => Effect.Effect<FoundRows, ReadError | RefusedValue | StaleObject> }
>()("@data-cabinet/core/row/RowReader") {}
