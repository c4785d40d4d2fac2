/**
 * The rows of the sheets of an OpenDocument spreadsheet, which holds all of them in one part. Repeated rows and cells
 * are expanded within bounds, because a few bytes may stand for a whole sheet.
 */
import type { SheetCell, SheetRow } from "@data-cabinet/core/file/SheetReader"
import { MAX_COLUMNS } from "./CellReference.ts"
import { OdsText } from "./OdsText.ts"
import { type OdsCell, odsValue } from "./OdsValue.ts"
import { RowBuilder } from "./RowBuilder.ts"
import { SheetFault } from "./SheetFault.ts"
import { noSuchSheet, sheetNumber } from "./SheetList.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"

/** The most rows with content that repetition may add to a sheet. */
const MAX_REPEATED_ROWS = 100_000
const MAX_SHEETS = 10_000
const MAX_STYLES = 100_000

export interface OdsOptions {
  readonly wanted: string | undefined
  readonly rowCharacters: number
  /** Whether hidden sheets are read: only if none is visible. */
  readonly hidden: boolean
  /** Called for each sheet that is read; unless one is chosen, these are the visible ones up to the first with rows. */
  readonly sheet: (name: string) => SheetSink
}

export interface SheetSink {
  readonly emit: (row: SheetRow) => void
  /** Whether the sheet had rows, so that no other one is read. */
  readonly end: () => boolean
}

const GROUPS = new Set(["table:table-header-rows", "table:table-rows", "table:table-row-group"])
const LINES = new Set(["text:p", "text:h"])
/** Elements of a cell that hold paragraphs. */
const BLOCKS = new Set(["text:list", "text:list-header", "text:list-item", "text:section"])
/** Inside a paragraph; anything else of a text, such as a field or a link, is what the sheet shows. */
const BESIDE = new Set(["text:ruby-text", "text:note", "text:tracked-changes"])

export class OdsRows implements XmlHandler {
  readonly #options: OdsOptions
  readonly #row: RowBuilder
  readonly #text = new OdsText()
  readonly #hiddenStyles = new Set<string>()
  readonly names: Array<string> = []
  #place: "outside" | "spreadsheet" | "table" | "row" | "cell" | "paragraph" = "outside"
  /** Open groups of rows, open elements of a paragraph, and open lists of a cell. */
  #groups = 0
  #spans = 0
  #blocks = 0
  #style = ""
  #sink: SheetSink | undefined
  #isDone = false
  #hasSheets = false
  #line = 0
  #rowRepeats = 1
  #columnRepeats = 1
  #column = 0
  #cell: OdsCell | undefined
  #hasFormula = false
  #rowsLeft = MAX_REPEATED_ROWS

  constructor(options: OdsOptions) {
    this.#options = options
    this.#row = new RowBuilder(options.rowCharacters)
  }

  /** Throws if no sheet was read. */
  end(): void {
    if (!this.#hasSheets) throw new SheetFault("its content.xml is not that of an OpenDocument spreadsheet (.ods)")
    if (!this.hasRead) throw noSuchSheet(this.#options.wanted, this.names)
  }

  /** Whether a sheet was read, with or without rows. */
  get hasRead(): boolean {
    return this.#sink !== undefined
  }

  open(name: string, scanner: XmlScanner): void {
    switch (this.#place) {
      case "outside":
        return this.#openOutside(name, scanner)
      case "spreadsheet":
        if (name !== "table:table") return scanner.skip()
        return this.#openTable(scanner)
      case "table":
        if (name === "table:table-row") return this.#openRow(scanner)
        if (GROUPS.has(name)) this.#groups++
        else scanner.skip()
        return
      case "row":
        if (name !== "table:table-cell" && name !== "table:covered-table-cell") return scanner.skip()
        return this.#openCell(scanner)
      case "cell":
        if (name === "table:table") this.#row.refuse(this.#column + 1, "it holds a table of its own")
        if (BLOCKS.has(name)) {
          this.#blocks++
          return
        }
        if (!LINES.has(name)) return scanner.skip()
        this.#text.beginParagraph()
        scanner.collects = true
        this.#place = "paragraph"
        return
      case "paragraph":
        if (this.#text.element(name, scanner)) return scanner.skip()
        if (name.startsWith("text:") && !BESIDE.has(name)) this.#spans++
        else scanner.skip()
    }
  }

  text(text: string): void {
    this.#text.add(text)
  }

  close(name: string, scanner: XmlScanner): void {
    if (this.#place === "table" && this.#groups > 0) {
      this.#groups--
      return
    }
    if (this.#place === "cell" && this.#blocks > 0) {
      this.#blocks--
      return
    }
    if (this.#place === "paragraph" && this.#spans > 0) {
      this.#spans--
      return
    }
    switch (this.#place) {
      case "paragraph":
        scanner.collects = false
        this.#text.endParagraph()
        this.#place = "cell"
        return
      case "cell":
        this.#place = "row"
        return this.#closeCell()
      case "row":
        this.#place = "table"
        return this.#closeRow()
      case "table":
        this.#place = "spreadsheet"
        this.#isDone = this.#sink!.end()
        return
      case "spreadsheet":
        this.#place = "outside"
        return
      case "outside":
        if (name === "style:style") this.#style = ""
    }
  }

  #openOutside(name: string, scanner: XmlScanner): void {
    if (name === "office:spreadsheet") {
      this.#place = "spreadsheet"
      this.#hasSheets = true
    } else if (name === "style:style") this.#style = scanner.get("style:name") ?? ""
    else if (name === "style:table-properties") {
      if (scanner.get("table:display") === "false" && this.#hiddenStyles.size < MAX_STYLES) {
        this.#hiddenStyles.add(this.#style)
      }
    } else if (!/^office:(?:document-content|document|automatic-styles|body)$/.test(name)) scanner.skip()
  }

  #openTable(scanner: XmlScanner): void {
    const name = scanner.get("table:name") ?? `Sheet${this.names.length + 1}`
    if (this.names.length >= MAX_SHEETS) throw new SheetFault("it has too many sheets", "too_large")
    this.names.push(name)
    if (this.#isDone || !this.#isWanted(name, scanner.get("table:style-name") ?? "")) return scanner.skip()
    this.#sink = this.#options.sheet(name)
    this.#line = 0
    this.#place = "table"
  }

  #isWanted(name: string, style: string): boolean {
    const { wanted, hidden } = this.#options
    if (wanted === undefined) return hidden || !this.#hiddenStyles.has(style)
    // The name of one sheet may be the number of another.
    return !this.hasRead && (name === wanted || sheetNumber(wanted) === this.names.length)
  }

  #openRow(scanner: XmlScanner): void {
    this.#rowRepeats = repeats(scanner.get("table:number-rows-repeated"))
    this.#row.begin(this.#line + 1)
    this.#column = 0
    this.#place = "row"
  }

  #openCell(scanner: XmlScanner): void {
    this.#columnRepeats = repeats(scanner.get("table:number-columns-repeated"))
    this.#cell = {
      type: scanner.get("office:value-type") ?? scanner.get("table:value-type"),
      ownType: scanner.get("calcext:value-type"),
      value: scanner.get("office:value") ?? scanner.get("table:value"),
      dateValue: scanner.get("office:date-value"),
      timeValue: scanner.get("office:time-value"),
      booleanValue: scanner.get("office:boolean-value"),
      stringValue: scanner.get("office:string-value"),
    }
    this.#hasFormula = scanner.get("table:formula") !== undefined
    this.#place = "cell"
  }

  #closeCell(): void {
    const value = odsValue(this.#cell!, this.#text.take())
    const first = this.#column + 1
    this.#column += this.#columnRepeats
    if (value === null) {
      if (this.#hasFormula)
        this.#row.refuse(first, "its formula has no value; open the workbook in a spreadsheet and save it")
      return
    }
    // An empty text that fills the rest of a row is not a value.
    if (value === "" && this.#column >= MAX_COLUMNS) return
    this.#fill(first, value)
  }

  #fill(first: number, value: SheetCell): void {
    for (let column = first; column <= this.#column; column++) {
      this.#row.set(column, value)
      if (column > MAX_COLUMNS) return
    }
  }

  #closeRow(): void {
    const row = this.#row.take()
    const begin = this.#line + 1
    this.#line += this.#rowRepeats
    if (row === undefined) return
    this.#rowsLeft -= this.#rowRepeats - 1
    if (this.#rowsLeft < 0) {
      throw new SheetFault(
        `row ${begin} is repeated ${this.#rowRepeats} times; at most ${MAX_REPEATED_ROWS} repeated rows with content are read`,
        "too_large",
      )
    }
    for (let line = begin; line <= this.#line; line++) this.#sink!.emit(line === begin ? row : { ...row, line })
  }
}

const repeats = (text: string | undefined): number => {
  if (text === undefined) return 1
  const count = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : 0
  if (count < 1) throw new SheetFault(`${text.slice(0, 20)} is not how often a row or cell is repeated`)
  return count
}
