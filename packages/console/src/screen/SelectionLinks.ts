/**
 * Links that change one part of a table's selection. The query string of a table's screen is that of `GET …/rows`; the rest
 * of it stays as it was, in its order, and every change starts at the first page.
 */
import type { Pairs } from "./ConsoleScreen.ts"

export const queryText = (pairs: Pairs): string => {
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")
  return text.replaceAll("%20", "+")
}

/** An address with these parameters; without parameters, no question mark. */
export const withQuery = (path: string, pairs: Pairs): string =>
  pairs.length === 0 ? path : `${path}?${queryText(pairs)}`

const named = (pairs: Pairs, name: string) => pairs.flatMap(([other, value]) => (other === name ? [value] : []))

export const valueOf = (pairs: Pairs, name: string): string | undefined => named(pairs, name)[0]

export const valuesOf = named

export const without = (pairs: Pairs, ...names: ReadonlyArray<string>): Pairs =>
  pairs.filter(([name]) => !names.includes(name))

/** The selection alone, at its first page. */
export const firstPage = (pairs: Pairs): Pairs => without(pairs, "cursor")

export const sortedBy = (pairs: Pairs, column: string, direction: "asc" | "desc"): Pairs => [
  ...without(pairs, "cursor", "sort", "dir"),
  ["sort", column],
  ["dir", direction],
]

/** A condition on a column. */
export interface ShownFilter {
  readonly column: string
  readonly condition: string
  readonly value: string
  /** True for an alternative to the filter before it. */
  readonly or?: boolean
}

/** The filters, as their parameters say them. */
export const filtersOf = (pairs: Pairs): ReadonlyArray<ShownFilter> => {
  const [columns, conditions, values] = [named(pairs, "fc"), named(pairs, "fo"), named(pairs, "fv")]
  const joins = named(pairs, "fj")
  return columns.map((column, at) => ({
    column,
    condition: conditions[at] ?? "eq",
    value: values[at] ?? "",
    or: joins[at - 1] === "or",
  }))
}

const filterPairs = (filters: ReadonlyArray<ShownFilter>): Pairs => {
  // Joins after the last `or` are left out.
  const joins = filters.slice(1, filters.findLastIndex(({ or }) => or === true) + 1)
  return [
    ...filters.flatMap(({ column, condition, value }) => [
      ["fc", column] as const,
      ["fo", condition] as const,
      ["fv", value] as const,
    ]),
    ...joins.map(({ or }) => ["fj", or === true ? "or" : "and"] as const),
  ]
}

export const withFilters = (pairs: Pairs, filters: ReadonlyArray<ShownFilter>): Pairs => [
  ...without(pairs, "cursor", "fc", "fo", "fv", "fj"),
  ...filterPairs(filters),
]

/** Only these filters. The next filter of a group takes the place of its first, so that no two groups become one. */
export const keepingFilters = (
  filters: ReadonlyArray<ShownFilter>,
  isKept: (filter: ShownFilter, index: number) => boolean,
): ReadonlyArray<ShownFilter> => {
  const kept: Array<ShownFilter> = []
  let isInGroup = false
  for (const [index, filter] of filters.entries()) {
    if (filter.or !== true) isInGroup = false
    if (!isKept(filter, index)) continue
    kept.push({ ...filter, or: isInGroup })
    isInGroup = true
  }
  return kept
}

export const withoutFilter = (pairs: Pairs, index: number): Pairs =>
  withFilters(
    pairs,
    keepingFilters(filtersOf(pairs), (_, at) => at !== index),
  )

/** A column to sort by; the direction is empty where it is not named. */
export interface ShownSort {
  readonly column: string
  readonly direction: string
}

/** The sorts, the most significant first. */
export const sortsOf = (pairs: Pairs): ReadonlyArray<ShownSort> => {
  const directions = named(pairs, "dir")
  return named(pairs, "sort").map((column, at) => ({ column, direction: directions[at] ?? "" }))
}

/** The parameters of these sorts. */
export const sortPairs = (sorts: ReadonlyArray<ShownSort>): Pairs => {
  const directions = sorts.slice(0, sorts.findLastIndex(({ direction }) => direction !== "") + 1)
  return [
    ...sorts.map(({ column }) => ["sort", column] as const),
    ...directions.map(({ direction }) => ["dir", direction === "" ? "asc" : direction] as const),
  ]
}

/** Hides a column, from a list of columns that names it or from all. */
export const hiding = (pairs: Pairs, column: string): Pairs => {
  const chosen = named(pairs, "col")
  if (chosen.length === 0) return [...without(pairs, "cursor"), ["hide", column]]
  return without(pairs, "cursor").filter(([name, value]) => !(name === "col" && value === column))
}

/**
 * Moves a column one place to the left (-1) or to the right (1) among the shown ones; null at the edge. The order is
 * named only as far as needed, so that new columns still appear by themselves.
 */
export const moving = (pairs: Pairs, shown: ReadonlyArray<string>, column: string, step: -1 | 1): Pairs | null => {
  const at = shown.indexOf(column)
  const other = shown[at + step]
  if (at < 0 || other === undefined) return null
  const moved = shown.with(at, other).with(at + step, column)
  const list = named(pairs, "col").length > 0 ? "col" : "order"
  const ordered = Math.max(at, at + step, shown.indexOf(named(pairs, "order").at(-1) ?? column)) + 1
  const names = list === "col" ? moved : moved.slice(0, ordered)
  return [...without(pairs, "cursor", list), ...names.map((name) => [list, name] as const)]
}

/** Puts a column first, in a list of columns or before all. */
export const puttingFirst = (pairs: Pairs, column: string): Pairs => {
  const list = named(pairs, "col").length > 0 ? "col" : "order"
  const others = without(pairs, "cursor").filter(([name, value]) => !(name === list && value === column))
  const at = others.findIndex(([name]) => name === list)
  return [...others.slice(0, at < 0 ? others.length : at), [list, column], ...(at < 0 ? [] : others.slice(at))]
}
