/**
 * Converts rows of cells to items: the first row names the fields, otherwise they are named `column1`, `column2`, …. A name
 * that occurs several times in the header collects its cells in a list, as in a form; a column without a name is named by
 * its number. A row longer than the header is refused unless the extra cells are empty; a shorter row leaves fields out.
 * A row that repeats the header, as in joined files, is left out and reported.
 */
import type { Json } from "../json/Json.ts"
import { gatherFields } from "../intake/Fields.ts"
import type { DoubtLog } from "./Doubt.ts"
import type { ItemSink } from "./FileItem.ts"

/** A row of cells. */
export interface CellRow {
  readonly line: number
  readonly cells: ReadonlyArray<Json>
  /** Where cells begin, for reports; without it a cell is reported by its number. */
  readonly columns?: ReadonlyArray<number>
  /** The file ended in this row: a row shorter than the header was truncated. */
  readonly last?: boolean
}

export class HeaderedRows {
  readonly #sink: ItemSink
  readonly #hasHeader: boolean
  #names: ReadonlyArray<string> | undefined
  /** The cells of the header as names; empty where the column has none. */
  #sent: ReadonlyArray<string> = []
  #unique = true
  #width = 0
  readonly #doubts: DoubtLog | undefined
  /** Whether values may hold U+FFFD; once set, every cell is examined. */
  #hasReplaced = false
  /** The last two rows, which may be totals. */
  #last: CellRow | undefined
  #beforeLast: CellRow | undefined

  /** Rows that are doubtful but not refused go to `doubts`. */
  constructor(sink: ItemSink, hasHeader: boolean, doubts?: DoubtLog) {
    this.#sink = sink
    this.#hasHeader = hasHeader
    this.#doubts = doubts
  }

  /** Examines all further cells for U+FFFD. */
  expectReplaced(): void {
    this.#hasReplaced = true
  }

  /** Must be called after the last row. */
  end(): void {
    for (const row of [this.#beforeLast, this.#last])
      if (row !== undefined && isTotalsRow(row.cells)) this.#doubts?.add("totals_row", row.line)
  }

  /** The names of the fields, once the first row has been read. */
  get names(): ReadonlyArray<string> {
    return this.#names ?? []
  }

  row(row: CellRow): void {
    if (this.#names === undefined) {
      if (this.#hasHeader) {
        this.#examineLetters(row)
        return this.#header(row.cells)
      }
      this.#header([])
    }
    const { cells } = row
    let width = cells.length
    if (this.#hasHeader && width > this.#width) {
      while (width > this.#width && isBlank(cells[width - 1]!)) width--
      if (width > this.#width) {
        const reason = `the row has ${width} cells, but the header has ${this.#width}`
        return this.#sink.refuse({ line: row.line, column: row.columns?.[this.#width] ?? this.#width + 1, reason })
      }
    }
    // The line above the rows is blank: there are no names, and this row has no cells.
    if (this.#hasHeader && this.#width === 0 && width === 0) return
    if (this.#hasHeader && row.last === true && width < this.#width && !isTotalsRow(cells)) {
      const reason = `the file ends here in the middle of a row: it has ${width} cells, but the header has ${this.#width}`
      return this.#sink.refuse({ line: row.line, column: null, reason })
    }
    if (this.#repeatsHeader(cells)) return this.#doubts?.add("headers_skipped", row.line)
    if (this.#doubts !== undefined) this.#examine(row, width, this.#doubts)
    if (this.#unique) {
      const payload = new Map<string, Json>()
      for (let n = 0; n < width; n++) payload.set(this.#name(n), cells[n]!)
      return this.#sink.item(row.line, payload)
    }
    const fields: Array<readonly [string, Json]> = []
    for (let n = 0; n < width; n++) fields.push([this.#name(n), cells[n]!])
    this.#sink.item(row.line, gatherFields(fields))
  }

  /** Longer rows have been refused. A single cell that equals the only name may be a value. */
  #repeatsHeader(cells: ReadonlyArray<Json>): boolean {
    const header = this.#sent
    if (header.length < 2 || cells.length < header.length || cells[0] === "") return false
    for (let n = 0; n < header.length; n++) {
      const cell = cells[n]!
      if (cell !== header[n] && nameOf(cell) !== header[n]) return false
    }
    return true
  }

  #examine(row: CellRow, width: number, doubts: DoubtLog): void {
    if (this.#hasHeader && width < this.#width && row.columns !== undefined) doubts.add("short_rows", row.line)
    this.#examineLetters(row)
    this.#beforeLast = this.#last
    this.#last = row
  }

  #examineLetters({ line, cells, columns }: CellRow): void {
    if (!this.#hasReplaced) return
    for (const [n, cell] of cells.entries()) {
      if (typeof cell === "string" && cell.includes("\uFFFD"))
        this.#doubts?.add("values_replaced", line, columns?.[n] ?? n + 1)
    }
  }

  #name(n: number): string {
    return this.#names![n] ?? columnName(n)
  }

  #header(cells: ReadonlyArray<Json>): void {
    let width = cells.length
    while (width > 0 && isBlank(cells[width - 1]!)) width--
    const names: Array<string> = []
    const given = new Set(cells.map(nameOf))
    for (let n = 0; n < width; n++) {
      let name = nameOf(cells[n]!)
      if (name === "") for (name = columnName(n); given.has(name);) name += "_"
      names.push(name)
    }
    this.#names = names
    this.#sent = cells.slice(0, width).map(nameOf)
    this.#width = width
    this.#unique = new Set(names).size === names.length
  }
}

const columnName = (n: number): string => `column${n + 1}`

const isBlank = (cell: Json): boolean => cell === null || (typeof cell === "string" && cell.trim() === "")

const nameOf = (cell: Json): string =>
  cell === null ? "" : typeof cell === "object" && "token" in cell ? cell.token : String(cell).trim()

/** The first words of rows of totals. */
const TOTAL =
  /^(?:(?:grand |sub)?total(?:s|e|en)?|sum|sum(?:me|ma)|gesamt(?:summe)?|итого|всего|разом|усього|razem|suma|celkem|összesen|somme|totaal|totalt|totale|合計|总计|合计)(?![\p{L}\p{N}])/iu

/** Longer first cells are sentences. */
const MAX_TOTAL_LENGTH = 40

/** Whether the first filled cell of a row names a total. */
const isTotalsRow = (cells: ReadonlyArray<Json>): boolean => {
  const first = cells.find((cell) => typeof cell === "string" && cell.trim() !== "")
  return typeof first === "string" && first.length <= MAX_TOTAL_LENGTH && TOTAL.test(first.trim())
}
