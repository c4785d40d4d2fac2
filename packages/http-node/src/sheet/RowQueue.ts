/** Queues rows that were read and not yet sent, in batches of bounded size. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { SheetFault } from "./SheetFault.ts"

const BATCH_ROWS = 500
const BATCH_CELLS = 20_000

/** The cost of a cell to its receiver, in characters. */
const CELL_COST = 32
/** The characters that any sheet may become, and the additional ones per byte of its part. */
const FREE_CHARACTERS = 256 * 1024 ** 2
const CHARACTERS_A_BYTE = 8

/** Empty cells before filled ones: the number in any sheet, and the additional ones per filled cell. */
const FREE_GAPS = 4_000_000
const GAPS_A_CELL = 64

const charactersOf = ({ cells }: SheetRow): number => {
  let sum = 0
  for (const cell of cells) if (typeof cell === "string") sum += cell.length
  return sum
}

/**
 * A text shared by many cells is one string in this thread, but one per cell in the receiver: a workbook of a few
 * kilobytes could become gigabytes there. So each batch is also limited in characters, and all batches by the sheet's
 * size.
 */
export class RowQueue {
  readonly #batchCharacters: number
  readonly #send: (rows: ReadonlyArray<SheetRow>) => void
  #left = FREE_CHARACTERS
  #gapsLeft = FREE_GAPS
  #rows: Array<SheetRow> = []
  #cells = 0
  #characters = 0

  constructor(batchCharacters: number, send: (rows: ReadonlyArray<SheetRow>) => void) {
    this.#batchCharacters = batchCharacters
    this.#send = send
  }

  /** The unpacked size of the sheet's part. */
  allow(bytes: number): void {
    this.#left = FREE_CHARACTERS + CHARACTERS_A_BYTE * bytes
  }

  add(row: SheetRow): void {
    const characters = charactersOf(row)
    const gaps = row.cells.filter((cell) => cell === null).length
    const filled = row.cells.length - gaps
    this.#left -= characters + filled * CELL_COST
    this.#gapsLeft += filled * GAPS_A_CELL - gaps
    if (this.#left < 0 || this.#gapsLeft < 0) {
      const reason = this.#left < 0 ? "texts or cells that are repeated" : "cells that are far apart"
      throw new SheetFault(`row ${row.line}: the sheet has become much larger than its part, by ${reason}`, "too_large")
    }
    this.#rows.push(row)
    this.#cells += row.cells.length
    this.#characters += characters
    const isFull =
      this.#rows.length >= BATCH_ROWS || this.#cells >= BATCH_CELLS || this.#characters >= this.#batchCharacters
    if (isFull) this.flush()
  }

  flush(): void {
    const rows = this.#rows
    this.#rows = []
    this.#cells = 0
    this.#characters = 0
    this.#send(rows)
  }
}
