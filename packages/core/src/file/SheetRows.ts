/**
 * Converts the rows of a sheet to items. Its first rows are held until they show where the table begins: rows of titles
 * above the header are left out, by the same rules as in a text.
 */
import { JsonNumber, type Json } from "../json/Json.ts"
import { constancy, MAX_TITLES } from "./Constancy.ts"
import type { CsvRecord } from "./CsvReader.ts"
import type { DoubtLog } from "./Doubt.ts"
import { type ItemSink, MAX_ITEM_LENGTH, tooLong } from "./FileItem.ts"
import { HeaderedRows } from "./HeaderedRows.ts"
import type { SheetCell, SheetRow } from "./SheetReader.ts"
import { ROWS_BELOW, tableBegin } from "./TableBegin.ts"

export class SheetRows {
  readonly #sink: ItemSink
  readonly #rows: HeaderedRows
  readonly #doubts: DoubtLog
  /** Undefined once the beginning of the table is known. */
  #held: Array<SheetRow> | undefined
  #heldLength = 0
  /** The row that names the fields, if titles are above it. */
  headerRow: number | undefined

  /** `findsTitles`: the caller did not specify the header. */
  constructor(sink: ItemSink, header: boolean, findsTitles: boolean, doubts: DoubtLog) {
    this.#sink = sink
    this.#rows = new HeaderedRows(sink, header, doubts)
    this.#doubts = doubts
    this.#held = findsTitles ? [] : undefined
  }

  row(row: SheetRow): void {
    if (row.tooLong === true || row.refusal !== undefined) {
      this.#begin()
      const refused = row.refusal ?? { column: null, reason: tooLong("the row") }
      return this.#sink.refuse({ line: row.line, ...refused })
    }
    if (!row.cells.some(isFilled)) return
    if (this.#held === undefined) return this.#pass(row)
    this.#held.push(row)
    for (const cell of row.cells) if (typeof cell === "string") this.#heldLength += cell.length
    if (this.#held.length > MAX_TITLES + ROWS_BELOW || this.#heldLength > MAX_ITEM_LENGTH) this.#begin()
  }

  /** Must be called after the last row. */
  end(): void {
    this.#begin()
    this.#rows.end()
  }

  #begin(): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    const titles = titlesAbove(held)
    for (const { line } of held.slice(0, titles)) this.#doubts.add("titles_skipped", line)
    if (titles > 0) this.headerRow = held[titles]!.line
    for (const row of held.slice(titles)) this.#pass(row)
  }

  #pass({ line, cells }: SheetRow): void {
    this.#rows.row({ line, cells: cells.map(cellValue) })
  }
}

const isFilled = (cell: SheetCell): boolean => cell !== null && cell !== ""

/** The number of rows above the header. */
const titlesAbove = (rows: ReadonlyArray<SheetRow>): number => {
  const widths = rows.map(({ cells }) => cells.findLastIndex(isFilled) + 1)
  // Rows may have notes at their right, and the last column may be nearly empty.
  const begin = (width: number) =>
    tableBegin(
      rows.map((row, n) => recordOf(row, Math.max(width, widths[n]!))),
      width,
    )
  return begin(widths.reduce((most, width) => Math.max(most, width), 0)) || begin(constancy(widths).width)
}

/** A row as a text would have it. */
const recordOf = ({ line, cells }: SheetRow, width: number): CsvRecord => ({
  line,
  cells: Array.from({ length: width }, (_, n) => textOf(cells[n] ?? null)),
  columns: [],
  last: false,
})

const textOf = (cell: SheetCell): string => (cell === null ? "" : typeof cell === "object" ? cell.digits : String(cell))

/** A number's shortest digits are what the sheet shows if nothing rounds it. */
const cellValue = (cell: SheetCell): Json => {
  if (typeof cell === "number") return Number.isFinite(cell) ? new JsonNumber(String(cell)) : String(cell)
  if (typeof cell === "string") return cell.replaceAll("\0", "\uFFFD").toWellFormed()
  return typeof cell === "object" && cell !== null ? new JsonNumber(cell.digits) : cell
}
