/**
 * Decides whether a column of a source's table may be dropped: only a field's column without a value that nothing uses.
 * A field that arrives later creates its column again, so that no value is ever lost.
 */
import { Result } from "effect"
import { counted } from "../text/Counted.ts"
import { ColumnError } from "./ColumnError.ts"
import { noSuchColumn, noSuchSource, noTable } from "./RetypePlan.ts"
import { MORE_COLUMN } from "./RowPlan.ts"
import type { ColumnTable, ColumnUse, NotRetyped } from "./SourceColumnStore.ts"

/** The columns that every source's table has. */
const FIXED: ReadonlySet<string> = new Set(["_event_id", "_received_at"])

/**
 * PostgreSQL numbers at most 1,600 columns over a table's life, including dropped ones. The rest is reserved for
 * columns that senders create.
 */
const MAX_NUMBERED = 1_200

const refuse = (code: ColumnError["code"], message: string) => Result.fail(new ColumnError({ code, message }))

const refusal = (name: string, reason: string, remedy: string): string =>
  `Column "${name}" was not dropped: ${reason}. ${remedy}`

/** The parameters of a selection whose value is the name of a column. */
const COLUMN_PARAMS: ReadonlySet<string> = new Set(["fc", "per", "sort", "col", "order", "hide"])

/** The names of the columns that a saved view's query selects, filters or sorts by. */
export const columnsIn = (query: string): ReadonlySet<string> => {
  const pairs = [...new URLSearchParams(query)]
  return new Set(pairs.filter(([parameter]) => COLUMN_PARAMS.has(parameter)).map(([, value]) => value))
}

/** Whether the table has a field column of this name. */
export const droppable = (sourceId: number, table: ColumnTable | undefined, name: string) => {
  if (table === undefined) return Result.fail(noSuchSource(sourceId))
  if (table.name === null) return Result.fail(noTable(sourceId))
  if (FIXED.has(name)) {
    const message = `Column "${name}" belongs to every source's table and cannot be dropped.`
    return Result.fail(new ColumnError({ code: "fixed_column", message }))
  }
  const { columns, hasMore } = table.layout
  const names = [...columns.map((each) => each.name), ...(hasMore ? [MORE_COLUMN] : [])]
  return names.includes(name) ? Result.succeed(undefined) : Result.fail(noSuchColumn(table.name, name, names))
}

/** Why a column must stay. */
export const mayDrop = (name: string, use: ColumnUse): Result.Result<void, ColumnError> => {
  if (use.filled) return refuse("column_filled", refusal(name, "it has values", "Nothing was changed."))
  if (use.views.length > 0) {
    const reason = `${counted(use.views.length, "view depends", "views depend")} on it: ${use.views.join(", ")}`
    return refuse("views_depend", refusal(name, reason, "Drop them first, or write them without the column."))
  }
  if (use.objects.length > 0) {
    const reason = `other objects depend on it: ${use.objects.join(", ")}`
    return refuse("objects_depend", refusal(name, reason, "Drop them first."))
  }
  if (use.indexes.length > 0) {
    const reason = `indexes or constraints use it: ${use.indexes.join(", ")}`
    return refuse("column_used", refusal(name, reason, "Drop them first."))
  }
  const saved = use.savedViews.filter(({ query }) => columnsIn(query).has(name)).map(({ title }) => `"${title}"`)
  if (saved.length > 0) {
    const reason = `saved views use it: ${saved.join(", ")}`
    return refuse("column_used", refusal(name, reason, "Remove them first."))
  }
  if (use.numbered > MAX_NUMBERED) {
    const reason = `its table has numbered ${use.numbered} of the 1,600 columns that PostgreSQL allows in a table's life`
    return refuse("columns_used_up", refusal(name, reason, "Later fields of this name use the column as it is."))
  }
  return Result.succeed(undefined)
}

/** Why the database did not drop a column that may be dropped. */
export const notDropped = (name: string, { fact }: NotRetyped): ColumnError => {
  const message =
    "seconds" in fact
      ? `The table is in use and could not be locked within ${fact.seconds} seconds. Try again at a quieter moment.`
      : refusal(name, `other objects depend on it (${fact.detail})`, "Drop them first.")
  return new ColumnError({ code: "seconds" in fact ? "table_busy" : "objects_depend", message })
}
