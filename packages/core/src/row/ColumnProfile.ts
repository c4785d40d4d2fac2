/** What the database knows of a table's columns without reading a row. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ReadableTable } from "./Catalog.ts"
import type { ReadError } from "./ReadError.ts"

/** The estimates of one column. Values are texts of the column's type, as PostgreSQL writes them in UTC with ISO dates. */
export interface ColumnStatistics {
  readonly column: string
  /** The share of NULL, from 0 to 1. */
  readonly nulls: number
  /** The number of different values: positive as a count, negative as a share of the rows, 0 if unknown. */
  readonly distinct: number
  /** The most frequent values with their shares. */
  readonly common: ReadonlyArray<{ readonly value: string; readonly share: number }>
  /** The bounds of groups of the other values, in order; each group has as many rows as any other. */
  readonly bounds: ReadonlyArray<string>
}

/** The estimates of a table's columns. A column without any is missing. */
export interface TableStatistics {
  /** When they were made, in RFC 3339; null if that is not known. */
  readonly at: string | null
  readonly columns: ReadonlyArray<ColumnStatistics>
}

/** Reads as the reader: only the columns that it may select, and nothing of a table with row policies. */
export class ColumnProfile extends Context.Service<
  ColumnProfile,
  {
    /** None for a table without statistics, and for one that is being changed. */
    readonly statistics: (
      table: ReadableTable,
      columns: ReadonlyArray<string>,
    ) => Effect.Effect<Option.Option<TableStatistics>, ReadError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/ColumnProfile") {}
