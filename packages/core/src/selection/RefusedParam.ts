/**
 * The refusal of a value that only PostgreSQL could convert, found out when the page is read: it belongs to a filter, or to
 * the place in a cursor.
 */
import type { RefusedValue } from "../row/ReadError.ts"
import type { PageQuery } from "../row/RowReader.ts"
import type { SelectionError } from "./SelectionError.ts"
import { selectionError, shown } from "./SelectionParams.ts"
import type { SelectionPlan } from "./SelectionPlan.ts"

/** The parameter at fault for a value that PostgreSQL could not convert: a filter's, or the cursor. */
export const refusedParam = (
  plan: SelectionPlan,
  { values }: PageQuery,
  { index, message }: RefusedValue,
): SelectionError => {
  const value = values[index]
  const at = plan.filters.findIndex((filter) => filter.text === value?.text && filter.column.type.sql === value.type)
  const filter = plan.filters[at]
  if (filter === undefined) {
    return selectionError("bad_cursor", "cursor", `The position in cursor can no longer be read: ${message}.`)
  }
  const of = `column ${shown(filter.column.name)} of type ${filter.column.type.name}`
  const isJson = filter.column.type.kind === "json" || filter.column.type.kind === "jsonb"
  const instead = isJson ? " Use contains for a part of its text." : ""
  return selectionError("bad_fv", "fv", `fv number ${at + 1} does not fit ${of}: ${message}.${instead}`)
}
