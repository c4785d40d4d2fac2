/** A selection's filters with the columns that they compare, and their values in PostgreSQL's form. */
import { Result } from "effect"
import type { ReadableColumn } from "../row/Catalog.ts"
import type { ColumnType } from "../row/ColumnType.ts"
import { clockWord } from "./ClockWord.ts"
import { filterText } from "./FilterText.ts"
import type { FilterCondition, Selection } from "./Selection.ts"
import type { SelectionError } from "./SelectionError.ts"
import { selectionError, shown } from "./SelectionParams.ts"

/** A filter with its column. */
export interface PlannedFilter {
  readonly column: ReadableColumn
  readonly condition: FilterCondition
  /** The value as sent. */
  readonly value: string
  /** In PostgreSQL's form, if it is compared. */
  readonly text: string
  /** As in the selection's filter. */
  readonly or?: true
}

/** The filters with their columns and values, or the first error. */
export const plannedFilters = (
  filters: Selection["filters"],
  column: (name: string) => ReadableColumn,
): Result.Result<ReadonlyArray<PlannedFilter>, SelectionError> => {
  const planned: Array<PlannedFilter> = []
  for (const [index, { column: name, condition, value, ...group }] of filters.entries()) {
    const of = column(name)
    if (!COMPARISONS.has(condition)) {
      planned.push({ column: of, condition, value, text: value, ...group })
      continue
    }
    if (of.type.operators === null) {
      const message = `Values of type ${of.type.name} (column ${shown(of.name)}) cannot be compared by ${condition}. It supports contains, empty and notempty.`
      return Result.fail(selectionError("bad_selection", "fo", message))
    }
    const text = filterText(of.type, value)
    const unfit = text === undefined ? expectedForm(of.type) : unfitWord(of.type, text)
    if (text === undefined || unfit !== undefined) {
      const message = `fv number ${index + 1} does not fit column ${shown(of.name)} of type ${of.type.name}: ${unfit}`
      return Result.fail(selectionError("bad_fv", "fv", message))
    }
    planned.push({ column: of, condition, value, text, ...group })
  }
  return Result.succeed(planned)
}

const expectedForm = (type: ColumnType): string =>
  type.kind === "bytea"
    ? "bytes are sent as base64, as they are shown."
    : "an array is sent as PostgreSQL writes it, or as the JSON that is shown."

const unfitWord = (type: ColumnType, text: string): string | undefined => {
  const word = clockWord(type, text)
  return word === undefined
    ? undefined
    : `${shown(word)} depends on the server's clock or settings; send a date or time in digits.`
}

const COMPARISONS: ReadonlySet<FilterCondition> = new Set(["eq", "ne", "gt", "ge", "lt", "le"])
