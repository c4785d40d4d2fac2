/**
 * Converts the form of a table's screen into the selection's own parameters: a plain form sends every field, filled or
 * not, and a checkbox for each shown column. The resulting address has only the chosen parameters.
 */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { daysOf } from "./Days.ts"
import {
  filtersOf,
  keepingFilters,
  sortPairs,
  sortsOf,
  valueOf,
  valuesOf,
  withFilters,
} from "../screen/SelectionLinks.ts"

const VALUELESS: ReadonlyArray<string> = ["empty", "notempty"]

/** `columns`: the table's own, in their order. `today`: the date, for a period that is named by it. */
export const selectionOfForm = (form: Pairs, columns: ReadonlyArray<string>, today: string): Pairs => {
  const given = (name: string): Pairs => {
    const value = valueOf(form, name) ?? ""
    return value === "" ? [] : [[name, value]]
  }
  const filters = keepingFilters(filtersOf(form), ({ column }) => column !== "").map((filter) =>
    VALUELESS.includes(filter.condition) ? { ...filter, value: "" } : filter,
  )
  const named = daysOf(valueOf(form, "days") ?? "", today)
  const days: Pairs =
    named === null
      ? [...given("from"), ...given("to")]
      : [
          ["from", named[0]],
          ["to", named[1]],
        ]
  const period: Pairs = days.length === 0 ? [] : [...given("per"), ...days]
  const sorts = sortsOf(form).filter(({ column }) => column !== "")
  const order = sorts.length === 0 ? given("dir") : sortPairs(sorts)
  const pairs: Pairs = [
    ...given("q"),
    ...withFilters([], filters),
    ...period,
    ...order,
    ...columnsOfForm(form, columns),
    ...given("limit"),
  ]
  return pairs
}

const columnsOfForm = (form: Pairs, columns: ReadonlyArray<string>): Pairs => {
  const shown = valuesOf(form, "show")
  const listed = valuesOf(form, "col")
  const order: Pairs = valuesOf(form, "order").map((name) => ["order", name])
  // A form without boxes, such as that of one column.
  if (shown.length === 0) {
    const hidden: Pairs = valuesOf(form, "hide").map((name) => ["hide", name])
    return [...listed.map((name) => ["col", name] as const), ...order, ...hidden]
  }
  if (listed.length > 0) {
    const kept = listed.filter((name) => shown.includes(name))
    const added = shown.filter((name) => !listed.includes(name))
    return [...kept, ...added].map((name) => ["col", name])
  }
  return [...order, ...columns.filter((name) => !shown.includes(name)).map((name) => ["hide", name] as const)]
}
