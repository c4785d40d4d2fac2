/**
 * The rows of a worksheet part. Cells and rows are placed by their reference, or after the previous one. If a cell is
 * unreadable, its row is refused or the read ends with the row's number: no cell is omitted silently.
 */
import type { SheetCell, SheetRow } from "@data-cabinet/core/file/SheetReader"
import { cellNumber } from "./CellNumber.ts"
import { cellReference, MAX_ROWS } from "./CellReference.ts"
import type { NumberKind } from "./NumberFormat.ts"
import { RowBuilder } from "./RowBuilder.ts"
import { RowOrder } from "./RowOrder.ts"
import { isoText, serialText } from "./SerialTime.ts"
import { BESIDE_TEXT, isExtension } from "./SharedStrings.ts"
import { SheetFault } from "./SheetFault.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"
import { unescapedText } from "./XmlText.ts"

export interface SheetContext {
  readonly texts: ReadonlyArray<string>
  readonly kinds: ReadonlyArray<NumberKind>
  readonly is1904: boolean
  /** Characters of one row: a longer row is reported without its cells. */
  readonly rowCharacters: number
}

const [START, SHEET, DATA, ROW, CELL, VALUE, INLINE, RUN, INLINE_TEXT] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const

export class OoxmlRows implements XmlHandler {
  readonly #context: SheetContext
  readonly #order: RowOrder
  readonly #row: RowBuilder
  #scanner!: XmlScanner
  #state: number = START
  /** 1 for a sheet that numbers its rows, or its columns, from 0. */
  #rowShift = 0
  #columnShift = 0
  #previous = 0
  /** The row has no number, so its first cell may provide one. */
  #isUnnumbered = false
  #column = 0
  #type: string | undefined
  #style: string | undefined
  /** Undefined if the cell has no value. */
  #value: string | undefined
  #inline: string | undefined
  #hasFormula = false
  /** The state to which an inline text returns. */
  #returnTo: number = INLINE

  constructor(context: SheetContext, emit: (row: SheetRow) => void) {
    this.#context = context
    this.#order = new RowOrder(emit)
    this.#row = new RowBuilder(context.rowCharacters)
  }

  open(name: string, scanner: XmlScanner): void {
    this.#scanner = scanner
    switch (this.#state) {
      case CELL:
        return this.#openInCell(name)
      case ROW:
        if (name !== "c") return this.#unknown(name)
        return this.#beginCell()
      case DATA:
        if (name !== "row") return this.#unknown(name)
        return this.#beginRow()
      case INLINE:
      case RUN:
        return this.#openInline(name)
      case SHEET:
        if (name === "sheetData") this.#state = DATA
        else scanner.skip()
        return
      case START:
        if (name !== "worksheet") throw new SheetFault(`the sheet is a ${name.slice(0, 50)}, not a worksheet`)
        this.#state = SHEET
        return
      default:
        throw this.#fault("a value contains other elements")
    }
  }

  text(text: string): void {
    if (this.#state === VALUE) this.#value += text
    else this.#inline += text
    const length = (this.#value ?? "").length + (this.#inline ?? "").length
    if (length > this.#context.rowCharacters * 2) throw this.#fault("a value is too long", "too_large")
  }

  close(): void {
    switch (this.#state) {
      case VALUE:
        this.#scanner.collects = false
        this.#state = CELL
        return
      case CELL:
        this.#state = ROW
        return this.#endCell()
      case ROW: {
        this.#state = DATA
        const row = this.#row.take()
        if (row !== undefined) this.#order.add(row)
        return
      }
      case INLINE_TEXT:
        this.#scanner.collects = false
        this.#state = this.#returnTo
        return
      case RUN:
        this.#state = INLINE
        return
      case INLINE:
        this.#state = CELL
        return
      default:
        if (this.#state === DATA) this.#order.end()
        this.#state--
    }
  }

  #fault(reason: string, code?: "too_large"): SheetFault {
    return new SheetFault(`row ${this.#row.line}: ${reason}`, code)
  }

  #unknown(name: string): void {
    if (isExtension(name)) return this.#scanner.skip()
    throw this.#fault(`the element <${name.slice(0, 50)}> is not expected here`)
  }

  #beginRow(): void {
    const given = this.#scanner.get("r")?.trim()
    let number = given === undefined || !/^\d{1,9}$/.test(given) ? undefined : Number(given)
    if (number === 0 && this.#previous === 0) this.#rowShift = 1
    if (number !== undefined) number += this.#rowShift
    this.#isUnnumbered = number === undefined
    this.#startRow(number ?? this.#previous + 1)
    this.#column = 0
    this.#state = ROW
  }

  #startRow(line: number): void {
    if (line < 1) throw new SheetFault(`it has a row ${line - this.#rowShift}`)
    if (line > MAX_ROWS) throw new SheetFault(`it has a row ${line}; a sheet has at most ${MAX_ROWS}`)
    this.#row.begin(line)
    this.#previous = line
  }

  #beginCell(): void {
    const scanner = this.#scanner
    const given = scanner.get("r")
    this.#column = given === undefined ? this.#column + 1 : this.#columnOf(given)
    this.#type = scanner.get("t")
    this.#style = scanner.get("s")
    this.#value = undefined
    this.#inline = undefined
    this.#hasFormula = false
    this.#state = CELL
  }

  #columnOf(given: string): number {
    const next = this.#column + 1
    const { column, row } = cellReference(given.trim())
    if (column === 0) return this.#numberedColumn(given, next)
    const line = row + this.#rowShift
    if (this.#isUnnumbered && row !== 0 && line > this.#row.line && this.#column === 0) this.#startRow(line)
    this.#isUnnumbered = false
    if (row !== 0 && line !== this.#row.line) {
      throw this.#fault(`the cell ${given.slice(0, 20)} belongs to another row`)
    }
    return column
  }

  /** Some programs number cells instead: from 0 or from 1. */
  #numberedColumn(given: string, next: number): number {
    if (given === "0" && next === 1) this.#columnShift = 1
    const number = /^\d{1,6}$/.test(given) ? Number(given) + this.#columnShift : next
    if (number === next) return next
    throw this.#fault(`the reference ${given.slice(0, 20)} of a cell cannot be read`)
  }

  #openInCell(name: string): void {
    if (name === "v") {
      if (this.#value !== undefined) throw this.#fault("a cell has two values")
      this.#value = ""
      this.#scanner.collects = true
      this.#state = VALUE
    } else if (name === "is") {
      this.#inline ??= ""
      this.#state = INLINE
    } else if (name === "f") {
      this.#hasFormula = true
      this.#scanner.skip()
    } else this.#unknown(name)
  }

  #openInline(name: string): void {
    if (name === "t") {
      this.#returnTo = this.#state
      this.#scanner.collects = true
      this.#state = INLINE_TEXT
    } else if (name === "r" && this.#state === INLINE) this.#state = RUN
    else if (BESIDE_TEXT.has(name)) this.#scanner.skip()
    else this.#unknown(name)
  }

  #endCell(): void {
    const value = this.#value ?? this.#inline
    if (value === undefined || value === "") {
      const isText = this.#type === "str" || this.#type === "inlineStr"
      if (this.#hasFormula && !isText) {
        this.#row.refuse(this.#column, "its formula has no value; open the workbook in a spreadsheet and save it")
      } else if (value !== undefined && isText) this.#row.set(this.#column, "")
      return
    }
    this.#row.set(this.#column, this.#value === undefined ? unescapedText(value) : this.#typed(value))
  }

  #typed(value: string): SheetCell {
    switch (this.#type) {
      case undefined:
      case "n":
        return this.#number(value)
      case "s":
        return this.#shared(value)
      case "b":
        return BOOLEANS[value.trim().toLowerCase()] ?? value
      case "d":
        return isoText(value)
      default:
        return unescapedText(value)
    }
  }

  #number(text: string): SheetCell {
    const value = cellNumber(text)
    const style = this.#style === undefined ? 0 : Number(this.#style)
    const kind = this.#context.kinds[style]
    if (kind === undefined || kind === "number" || typeof value !== "number") return value
    return serialText(value, kind, this.#context.is1904) ?? value
  }

  #shared(value: string): SheetCell {
    const text = /^\s*\d{1,9}\s*$/.test(value) ? this.#context.texts[Number(value)] : undefined
    if (text !== undefined) return text
    this.#row.refuse(this.#column, `the workbook has no shared text ${value.slice(0, 20)}`)
    return null
  }
}

const BOOLEANS: Readonly<Record<string, boolean>> = { "0": false, "1": true, false: false, true: true }
