/** The widths of columns, as classes, by their headings and the first rows of a page. */
import { cellTokens } from "@data-cabinet/core/row/CellTokens"
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import { widthClass } from "./Cells.ts"

/** From the first rows of the page: a sufficient sample, and the same for every page that the script adds. */
const LOOKED_AT = 50
const TIME_CHARACTERS = 19

export const widthsOf = (
  columns: ReadonlyArray<ReadableColumn>,
  labels: ReadonlyMap<string, string>,
  rows: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const looked = rows.slice(0, LOOKED_AT).map(cellTokens)
  return columns.map(({ name, type }, at) => {
    const label = (labels.get(name) ?? name).length + 5
    if (type.kind === "timestamptz") return widthClass(Math.min(label, 25), [TIME_CHARACTERS])
    // Digits are wider than the average letter.
    const most = type.kind === "number" ? 1.12 : 1
    return widthClass(
      Math.min(label, 25),
      looked.map((row) => Math.min((row[at]?.length ?? 0) * most, type.kind === "number" ? 46 : 40)),
    )
  })
}
