/** A selection of rows as a value: parsed and well formed, but not yet checked against an object's columns. */

/** The conditions of a filter; the last two have no value. */
export const FILTER_CONDITIONS = ["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty"] as const

/** How a filter compares values. */
export type FilterCondition = (typeof FILTER_CONDITIONS)[number]

/** A condition on a column. */
export interface Filter {
  readonly column: string
  readonly condition: FilterCondition
  /** Empty for `empty` and `notempty`. */
  readonly value: string
}

/** Days of the cabinet's calendar as `YYYY-MM-DD`, both inclusive; null for an open end. */
export interface Period {
  readonly column: string
  readonly from: string | null
  readonly to: string | null
}

/** The direction of a sort. */
export type Direction = "asc" | "desc"

/** Exactly these columns, or all columns with some first and some hidden. */
export type ColumnChoice =
  | { readonly only: ReadonlyArray<string> }
  | { readonly first: ReadonlyArray<string>; readonly hidden: ReadonlyArray<string> }

export interface Selection {
  /** The text to find in any column; empty for none. */
  readonly search: string
  /** Every filter must match. */
  readonly filters: ReadonlyArray<Filter>
  readonly period: Period | null
  /** Null for the object's own order. */
  readonly sort: string | null
  /** Null for the default direction of that order. */
  readonly direction: Direction | null
  readonly columns: ColumnChoice
  readonly limit: number
  readonly cursor: string | null
}
