/**
 * Resolves a selection against an object's columns: names become columns, the order becomes total, the cursor becomes a
 * place. Refuses unknown columns, conditions and orders that a type does not support, and cursors of another walk.
 * PostgreSQL decides, when the page is read, whether a type accepts a filter's value.
 */
import { Result } from "effect"
import { type CursorPosition, type CursorWalk, decodeCursor } from "../pagination/Cursor.ts"
import type { CursorKey } from "../pagination/CursorKey.ts"
import type { ReadableColumn, ReadableTable } from "../row/Catalog.ts"
import type { Column } from "../row/Table.ts"
import { nearest } from "../text/Nearest.ts"
import { type PlannedFilter, plannedFilters } from "./PlannedFilter.ts"
import type { ColumnChoice, Direction, Period, Selection } from "./Selection.ts"
import type { SelectionCode, SelectionError } from "./SelectionError.ts"
import { selectionError, shown } from "./SelectionParams.ts"

/** A further sort with its column. */
export interface PlannedSort {
  readonly column: ReadableColumn
  readonly direction: Direction
}

/** A period with its column. */
export interface PlannedPeriod {
  readonly column: ReadableColumn
  readonly from: string | null
  readonly to: string | null
}

/**
 * A row's columns, in this order, as `columns` describes them. Without a choice of columns, always the same object for
 * a table.
 */
export interface Showing {
  readonly shown: ReadonlyArray<ReadableColumn>
  readonly columns: ReadonlyArray<Column>
}

export interface SelectionPlan {
  readonly table: ReadableTable
  readonly showing: Showing
  readonly search: string
  readonly filters: ReadonlyArray<PlannedFilter>
  readonly period: PlannedPeriod | null
  /** The requested column. The row's identity determines the ties, and if this is null the whole order. */
  readonly sort: ReadableColumn | null
  readonly direction: Direction
  /** Further sorts that change the order. The ties go in the direction of the last one. */
  readonly thenBy: ReadonlyArray<PlannedSort>
  /** The columns that distinguish rows after the sorts; empty if the object has no key. */
  readonly ties: ReadonlyArray<ReadableColumn>
  readonly limit: number
  readonly walk: CursorWalk
  /** Where the last page ended: the sort value if there is one, then the values that identify the row. */
  readonly after: CursorPosition | null
}

/** The refusal of a name that no column has; the columns are those of the table or view. */
export const unknownColumn = (
  param: string,
  name: string,
  columns: ReadonlyArray<{ readonly name: string }>,
): SelectionError => {
  const names = columns.map((column) => column.name)
  const meant = nearest(name, names)
  const suggestion = directed(param, name, names) ?? (meant === null ? "" : ` Did you mean ${shown(meant)}?`)
  const message = `${param} names a column ${shown(name)} that the table or view does not have.${suggestion} Its columns are ${list(names)}.`
  return selectionError("unknown_column", param, message)
}

/** For a sort in the manner of other APIs: without this hint it would be mended to the wrong direction. */
const directed = (param: string, name: string, names: ReadonlyArray<string>): string | undefined => {
  const [, minus, column = "", word] = /^([-+]?)(.*?)(?:[ :.](asc|desc))?$/is.exec(name) ?? []
  if (param !== "sort" || !names.includes(column)) return undefined
  const direction = minus === "-" || word?.toLowerCase() === "desc" ? "desc" : "asc"
  return ` Send sort=${column} with dir=${direction}.`
}

/** Plans a selection on this object, or returns the first error. */
export const selectionPlan = (
  selection: Selection,
  table: ReadableTable,
  cursorKey: CursorKey,
): Result.Result<SelectionPlan, SelectionError> => {
  const refuse = (code: SelectionCode, param: string, message: string) =>
    Result.fail(selectionError(code, param, message))
  const named = columnsByName(table)
  for (const [param, name] of namesUsed(selection)) {
    if (!named.has(name)) {
      return Result.fail(unknownColumn(param, name, table.columns))
    }
  }
  const column = (name: string): ReadableColumn => named.get(name) as ReadableColumn

  const showing = showingOf(selection.columns, table)
  if (showing.shown.length === 0 && table.columns.length > 0)
    return refuse("bad_columns", "hide", "No column is left to show: hide names every column.")

  const filters = plannedFilters(selection.filters, column)
  if (Result.isFailure(filters)) return Result.fail(filters.failure)
  const period = plannedPeriod(selection.period, column)
  if (period !== null && !DATES.has(period.column.type.kind)) {
    const message = `per names a column of type ${period.column.type.name}; a period needs a date, timestamp or timestamptz. Filter it by ge and lt instead.`
    return refuse("bad_period", "per", message)
  }
  const sort = selection.sort === null ? null : column(selection.sort)
  const further = selection.thenBy.map((one) => ({ ...one, column: column(one.column) }))
  for (const one of [...(sort === null ? [] : [sort]), ...further.map((each) => each.column)]) {
    if (one.type.operators !== null) continue
    const message = `Values of type ${one.type.name} (column ${shown(one.name)}) have no order to sort by.`
    return refuse("bad_selection", "sort", message)
  }

  const key = table.detail.key.map(column)
  const direction = selection.direction ?? (sort === null && freshFirst(table) ? "desc" : "asc")
  const plan = {
    table,
    showing,
    search: selection.search,
    filters: filters.success,
    period,
    sort: key.length === 1 && key[0] === sort ? null : sort,
    direction,
    ...orderAfter(sort, further, key),
    limit: selection.limit,
  } satisfies Partial<SelectionPlan>
  const walk = walkOf(selection, plan, cursorKey)
  const after = selection.cursor === null ? null : decodeCursor(walk, selection.cursor)
  if (after === undefined) {
    const message =
      "cursor must be the next_cursor of the previous page, unchanged, with all other parameters except limit the same."
    return refuse("bad_cursor", "cursor", message)
  }
  return Result.succeed({ ...plan, walk, after })
}

/** The sorts after the first, up to the one that completes the key, and the key's other columns. */
const orderAfter = (
  sort: ReadableColumn | null,
  further: ReadonlyArray<PlannedSort>,
  key: ReadonlyArray<ReadableColumn>,
): Pick<SelectionPlan, "thenBy" | "ties"> => {
  if (key.length === 1 && key[0] === sort) return { thenBy: [], ties: key }
  const sorted: Array<ReadableColumn | null> = [sort]
  const thenBy: Array<PlannedSort> = []
  for (const one of further) {
    if (key.length > 0 && key.every((each) => sorted.includes(each))) break
    thenBy.push(one)
    sorted.push(one.column)
  }
  return { thenBy, ties: key.filter((each) => !sorted.includes(each)) }
}

const DATES: ReadonlySet<string> = new Set(["date", "timestamp", "timestamptz"])

/** A source's table shows the latest event first. */
const freshFirst = (table: ReadableTable): boolean =>
  table.detail.schema === "sources" && table.detail.key.length === 1 && table.detail.key[0] === "_event_id"

const namesUsed = function* ({
  filters,
  period,
  sort,
  thenBy,
  columns,
}: Selection): Iterable<readonly [string, string]> {
  for (const { column } of filters) yield ["fc", column]
  if (period !== null) yield ["per", period.column]
  if (sort !== null) yield ["sort", sort]
  for (const { column } of thenBy) yield ["sort", column]
  if ("only" in columns) for (const name of columns.only) yield ["col", name]
  else {
    for (const name of columns.first) yield ["order", name]
    for (const name of columns.hidden) yield ["hide", name]
  }
}

const list = (names: ReadonlyArray<string>): string =>
  names.length > 30
    ? `${names.slice(0, 30).map(shown).join(", ")} and ${names.length - 30} more`
    : names.map(shown).join(", ")

const byName = new WeakMap<ReadableTable, ReadonlyMap<string, ReadableColumn>>()

const columnsByName = (table: ReadableTable): ReadonlyMap<string, ReadableColumn> => {
  const known = byName.get(table)
  if (known !== undefined) return known
  const named = new Map(table.columns.map((column) => [column.name, column]))
  byName.set(table, named)
  return named
}

const everything = new WeakMap<ReadableTable, Showing>()

const showingOf = (choice: ColumnChoice, table: ReadableTable): Showing => {
  const isChosen = "only" in choice || choice.first.length > 0 || choice.hidden.length > 0
  const known = isChosen ? undefined : everything.get(table)
  if (known !== undefined) return known
  const chosen = choose(choice, table)
  const showing = {
    shown: chosen.map((index) => table.columns[index] as ReadableColumn),
    columns: chosen.map((index) => table.detail.columns[index] as Column),
  }
  if (!isChosen) everything.set(table, showing)
  return showing
}

/** The indexes of the columns to show, in order. */
const choose = (choice: ColumnChoice, { columns }: ReadableTable): ReadonlyArray<number> => {
  const index = new Map(columns.map(({ name }, at) => [name, at]))
  const at = (name: string) => index.get(name) as number
  if ("only" in choice) return choice.only.map(at)
  const hidden = new Set(choice.hidden)
  const ordered = new Set([...choice.first.map(at), ...columns.keys()])
  return [...ordered].filter((one) => !hidden.has(columns[one]?.name ?? ""))
}

const plannedPeriod = (period: Period | null, column: (name: string) => ReadableColumn): PlannedPeriod | null =>
  period === null ? null : { ...period, column: column(period.column) }

/**
 * A cursor is valid for this object, this selection with any page size, and these types of the compared values. The scope of
 * a selection with one sort is that of earlier versions, so that their cursors remain valid.
 */
const walkOf = (
  { limit: _limit, cursor: _cursor, direction: _direction, thenBy, ...selected }: Selection,
  plan: Pick<SelectionPlan, "table" | "sort" | "thenBy" | "ties" | "direction">,
  key: CursorKey,
): CursorWalk => {
  const { table, sort, ties, direction } = plan
  return {
    key,
    kind: "rows",
    scope: [
      table.detail.schema,
      table.detail.name,
      table.identity === "place" ? table.oid : table.identity,
      selected,
      direction,
      sort === null ? null : [sort.type.sql, sort.notNull],
      ties.map(({ name, type }) => [name, type.sql]),
      ...(thenBy.length === 0 ? [] : [thenBy, plan.thenBy.map(({ column }) => [column.type.sql, column.notNull])]),
    ],
  }
}
