/**
 * Puts the rows of a sheet in their order. Some programs write a few rows behind later ones; spreadsheets show each by its
 * number. Rows are held so far as memory is bounded; one that comes after its successor was passed on ends the read.
 */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { SheetFault } from "./SheetFault.ts"

/** Bounds of the rows that are held; half of them are passed on when one is reached. */
const MAX_HELD = 4_000
const MAX_CELLS = 200_000
const MAX_CHARACTERS = 8 * 1024 ** 2

export class RowOrder {
  readonly #emit: (row: SheetRow) => void
  /** In order. */
  #held: Array<SheetRow> = []
  #cells = 0
  #characters = 0
  #passed = 0

  constructor(emit: (row: SheetRow) => void) {
    this.#emit = emit
  }

  add(row: SheetRow): void {
    const held = this.#held
    const { line } = row
    let at = held.length
    while (at > 0 && held[at - 1]!.line > line) at--
    const before = held[at - 1]?.line ?? this.#passed
    if (line <= before) throw new SheetFault(line === before ? twice(line) : `row ${line} comes after row ${before}`)
    if (at === held.length) held.push(row)
    else held.splice(at, 0, row)
    this.#cells += row.cells.length
    for (const cell of row.cells) if (typeof cell === "string") this.#characters += cell.length
    if (held.length >= MAX_HELD || this.#cells > MAX_CELLS || this.#characters > MAX_CHARACTERS) {
      this.#pass(Math.ceil(held.length / 2))
    }
  }

  /** Passes all rows on: none follows. */
  end(): void {
    this.#pass(this.#held.length)
  }

  #pass(count: number): void {
    const rows = this.#held
    this.#held = rows.slice(count)
    this.#cells = 0
    this.#characters = 0
    for (const row of this.#held) {
      this.#cells += row.cells.length
      for (const cell of row.cells) if (typeof cell === "string") this.#characters += cell.length
    }
    for (const row of rows.slice(0, count)) {
      this.#passed = row.line
      this.#emit(row)
    }
  }
}

const twice = (line: number): string => `row ${line} occurs twice`
