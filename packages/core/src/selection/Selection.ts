/** A selection of rows as a value: what was asked, in the right form, not yet held against any object's columns. */

/** The conditions of a filter; the last two take no value. */
export const FILTER_CONDITIONS = ["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty"] as const

/** How a filter compares. */
export type FilterCondition = (typeof FILTER_CONDITIONS)[number]

export interface Filter {
  readonly column: string
  readonly condition: FilterCondition
  /** Empty for `empty` and `notempty`. */
  readonly value: string
}

/** Days of the cabinet's calendar as `YYYY-MM-DD`, both inclusive; an open end is null. */
export interface Period {
  readonly column: string
  readonly from: string | null
  readonly to: string | null
}

/** Which way a sort goes. */
export type Direction = "asc" | "desc"

/** Exactly some columns, or all with some first and some hidden. */
export type ColumnChoice =
  | { readonly only: ReadonlyArray<string> }
  | { readonly first: ReadonlyArray<string>; readonly hidden: ReadonlyArray<string> }

export interface Selection {
  /** Looked for in every column; empty for none. */
  readonly search: string
  /** All must hold. */
  readonly filters: ReadonlyArray<Filter>
  readonly period: Period | null
  /** Null for the object's own order. */
  readonly sort: string | null
  /** Null for the usual direction of that order. */
  readonly direction: Direction | null
  readonly columns: ColumnChoice
  readonly limit: number
  readonly cursor: string | null
}
