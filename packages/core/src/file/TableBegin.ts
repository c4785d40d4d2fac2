/**
 * Finds where a table begins below lines of titles. Titles have fewer cells than the table; that the line below them is a
 * header must also show, by a blank line above it or by a column of numbers or dates under its name.
 */
import { MAX_TITLES } from "./Constancy.ts"
import type { CsvRecord } from "./CsvReader.ts"
import { isValue } from "./CsvSample.ts"

/** Rows below a header that are examined for values. */
export const ROWS_BELOW = 50

const isBlank = (cell: string): boolean => cell.trim() === ""

const filled = ({ cells }: CsvRecord): number => cells.filter((cell) => !isBlank(cell)).length

/** Whether most cells below some name are numbers or dates. */
const hasValuesBelow = (rows: ReadonlyArray<CsvRecord>, begin: number): boolean => {
  const below = rows.slice(begin + 1, begin + 1 + ROWS_BELOW)
  return rows[begin]!.cells.some((name, column) => {
    if (isBlank(name)) return false
    const cells = below.map(({ cells: all }) => all[column] ?? "").filter((cell) => !isBlank(cell))
    return cells.length > 0 && cells.filter(isValue).length * 5 >= cells.length * 4
  })
}

/** The index of the row that begins the table; 0 if no titles are found. `width` is the number of cells of most rows. */
export const tableBegin = (rows: ReadonlyArray<CsvRecord>, width: number): number => {
  if (width < 2) return 0
  const isWide = (row: CsvRecord, least: number) => row.cells.length === width && filled(row) >= least
  const begin = rows.findIndex((row) => isWide(row, Math.max(2, width / 2)))
  if (begin < 1) return 0
  // A title may have half as many cells as the table, but the header names every column.
  const full = rows.findIndex((row) => isWide(row, width))
  if (full > begin && isBelowTitles(rows, full) && hasValuesBelow(rows, full)) return full
  const isApart =
    rows.slice(0, begin).some((title) => filled(title) === 0) || rows[begin]!.line > rows[begin - 1]!.line + 1
  return isBelowTitles(rows, begin) && (isApart || hasValuesBelow(rows, begin)) ? begin : 0
}

/** Whether a row holds no values, and more names than every row above it has cells. */
const isBelowTitles = (rows: ReadonlyArray<CsvRecord>, begin: number): boolean => {
  const header = rows[begin]!
  return (
    begin <= MAX_TITLES &&
    begin + 1 < rows.length &&
    !header.cells.some(isValue) &&
    rows.slice(0, begin).every((title) => filled(title) < filled(header))
  )
}
