/**
 * Collects the cells of one row, within bounds of text and width. Cells may come in any order. A duplicate or
 * unreadable cell makes the row refused, with its column.
 */
import type { SheetCell, SheetRow } from "@data-cabinet/core/file/SheetReader"
import { columnLetters, MAX_COLUMNS } from "./CellReference.ts"

export class RowBuilder {
  readonly #maxCharacters: number
  #line = 0
  #cells: Array<SheetCell> = []
  #characters = 0
  #refusal: SheetRow["refusal"]

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  get line(): number {
    return this.#line
  }

  begin(line: number): void {
    this.#line = line
    this.#cells = []
    this.#characters = 0
    this.#refusal = undefined
  }

  /** The first reason is kept. */
  refuse(column: number, reason: string): void {
    this.#refusal ??= { column, reason: `cell ${columnLetters(column)}${this.#line}: ${reason}` }
  }

  set(column: number, value: SheetCell): void {
    if (value === null) return
    if (column > MAX_COLUMNS) return this.refuse(MAX_COLUMNS, `a sheet has at most ${MAX_COLUMNS} columns`)
    const cells = this.#cells
    if (column <= cells.length) {
      if (cells[column - 1] !== null) return this.refuse(column, "it occurs twice")
    } else while (cells.length < column) cells.push(null)

    cells[column - 1] = value
    if (typeof value === "string") this.#characters += value.length
  }

  /** Undefined for a row without filled cells. */
  take(): SheetRow | undefined {
    const { line, refusal } = { line: this.#line, refusal: this.#refusal }
    if (refusal !== undefined) return { line, cells: [], refusal }
    if (this.#characters > this.#maxCharacters) return { line, cells: [], tooLong: true }
    return this.#cells.length === 0 ? undefined : { line, cells: this.#cells }
  }
}
