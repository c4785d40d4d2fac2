/** A selection of rows as a value: parsed and well formed, but not yet checked against an object's columns. */

/** The conditions of a filter; the last two have no value. */
export const FILTER_CONDITIONS = ["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty"] as const

/** How a filter compares values. */
export type FilterCondition = (typeof FILTER_CONDITIONS)[number]

/** The conditions that compare, as a person writes them. */
export const SIGNS: Readonly<Record<Exclude<FilterCondition, "empty" | "notempty">, string>> = {
  eq: "=",
  ne: "!=",
  gt: ">",
  ge: ">=",
  lt: "<",
  le: "<=",
  contains: "~",
}

/** A condition on a column. */
export interface Filter {
  readonly column: string
  readonly condition: FilterCondition
  /** Empty for `empty` and `notempty`. */
  readonly value: string
  /** True if it belongs to the group of the filter before it; absent in the first filter of a group. */
  readonly or?: true
}

/** The words that join two adjacent filters. */
export const FILTER_JOINS = ["and", "or"] as const

/** A word that joins two adjacent filters. */
export type FilterJoin = (typeof FILTER_JOINS)[number]

/** The most filters of a selection that has an `or`. */
export const MAX_ALTERNATIVES = 100

/** The most columns to sort by. */
export const MAX_SORTS = 8

/** Days of the cabinet's calendar as `YYYY-MM-DD`, both inclusive; null for an open end. */
export interface Period {
  readonly column: string
  readonly from: string | null
  readonly to: string | null
}

/** The direction of a sort. */
export type Direction = "asc" | "desc"

/** A column to sort by. */
export interface Sort {
  readonly column: string
  readonly direction: Direction
}

/** Exactly these columns, or all columns with some first and some hidden. */
export type ColumnChoice =
  | { readonly only: ReadonlyArray<string> }
  | { readonly first: ReadonlyArray<string>; readonly hidden: ReadonlyArray<string> }

export interface Selection {
  /** The text to find in any column; empty for none. */
  readonly search: string
  /** At least one filter of each group must match: see `filterGroups`. */
  readonly filters: ReadonlyArray<Filter>
  readonly period: Period | null
  /** Null for the object's own order. */
  readonly sort: string | null
  /** Null for the default direction of that order. */
  readonly direction: Direction | null
  /** Further sorts, for rows that are equal in all previous ones. */
  readonly thenBy: ReadonlyArray<Sort>
  readonly columns: ColumnChoice
  readonly limit: number
  readonly cursor: string | null
}
