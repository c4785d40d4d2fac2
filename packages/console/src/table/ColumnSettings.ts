/** The link to a column's label and type, and the hint at a filter of a text column about its order. */
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { comparesNumber } from "@data-cabinet/core/selection/TextOrder"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { type Frame, may } from "../html/Shell.ts"
import { columnPath } from "./ColumnScreen.ts"
import { filtersOf, withQuery } from "../screen/SelectionLinks.ts"
import type { ToolbarData } from "./TableToolbar.ts"

/** Columns of a source's table that take no field, so that nothing of them can be changed. */
const OF_EVERY_TABLE: ReadonlySet<string> = new Set(["_event_id", "_received_at", MORE_COLUMN])

/** Null if the column has no settings, or the visitor may not see them. */
export const settingsPath = (frame: Frame, { schema, name, ofSource }: ToolbarData, column: string): string | null =>
  ofSource && !OF_EVERY_TABLE.has(column) && may(frame, "column.read") ? columnPath(frame, schema, name, column) : null

/** A line for each filter that compares numbers in a column of text, with the way to make it a column of numbers. */
export const textOrderNotes = (frame: Frame, data: ToolbarData): HtmlValue => {
  const { table: words } = frame.words
  const isText = new Set(data.columns.filter(({ type }) => type.kind === "text").map(({ name }) => name))
  const misled = filtersOf(data.pairs).filter(
    ({ column, condition, value }) => isText.has(column) && comparesNumber(condition, value),
  )
  return [...new Set(misled.map(({ column }) => column))].map((column) => {
    const settings = settingsPath(frame, data, column)
    const link =
      settings !== null && markup` <a href="${withQuery(settings, [["type", "numeric"]])}">${words.retype}</a>`
    return markup`<p class="note soft"><b>${data.labels.get(column) ?? column}</b>: ${words.textOrder}${link}</p>`
  })
}
