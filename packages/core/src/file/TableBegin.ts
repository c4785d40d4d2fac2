/**
 * Finds where a table begins below lines of titles. Titles have fewer cells than the table; that the line below them is a
 * header must also show, by a blank line above it or by a column of numbers or dates under its name.
 */
import { MAX_TITLES } from "./Constancy.ts"
import type { CsvRecord } from "./CsvReader.ts"
import { isValue } from "./CsvSample.ts"

/** Rows below a header that are examined for values. */
const ROWS_BELOW = 50

const isBlank = (cell: string): boolean => cell.trim() === ""

const filled = ({ cells }: CsvRecord): number => cells.filter((cell) => !isBlank(cell)).length

/** Whether most cells below some name are numbers or dates. */
const hasValuesBelow = (header: CsvRecord, below: ReadonlyArray<CsvRecord>): boolean =>
  header.cells.some((name, column) => {
    if (isBlank(name)) return false
    const cells = below.map(({ cells: all }) => all[column] ?? "").filter((cell) => !isBlank(cell))
    return cells.length > 0 && cells.filter(isValue).length * 5 >= cells.length * 4
  })

/** The index of the row that begins the table; 0 if no titles are found. `width` is the number of cells of most rows. */
export const tableBegin = (rows: ReadonlyArray<CsvRecord>, width: number): number => {
  if (width < 2) return 0
  const begin = rows.findIndex((row) => row.cells.length === width && filled(row) * 2 >= width && filled(row) > 1)
  if (begin < 1 || begin > MAX_TITLES || begin + 1 >= rows.length) return 0
  const header = rows[begin]!
  const titles = rows.slice(0, begin)
  const names = filled(header)
  if (header.cells.some(isValue) || titles.some((title) => filled(title) >= names)) return 0
  const isApart = titles.some((title) => filled(title) === 0) || header.line > titles.at(-1)!.line + 1
  return isApart || hasValuesBelow(header, rows.slice(begin + 1, begin + 1 + ROWS_BELOW)) ? begin : 0
}
