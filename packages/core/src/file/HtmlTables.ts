/**
 * Reads the tables of an HTML page in pieces, as many shops export them under the name `.xls`. The cell of a merged area
 * that comes first has its text; the others are empty. White space is one space, as a browser shows it; line breaks stay.
 * A row with text outside its cells, as a broken tag leaves it, is refused.
 */
import { Parser } from "htmlparser2"
import { MAX_CELLS } from "./CsvReader.ts"
import { MAX_ITEM_LENGTH, type Refusal, tooLong } from "./FileItem.ts"
import { BLOCKS, columnSpan, HIDDEN, rowSpan, SECTIONS, shownText } from "./HtmlElements.ts"

/** A row of a table. Tables of the page, and rows of a table, are counted from 1. */
export interface HtmlRow {
  readonly table: number
  readonly line: number
  readonly cells: ReadonlyArray<string>
  /** Whether all its cells are marked as headings. */
  readonly isHeading: boolean
}

/** Receives the rows, in the page's order. */
export interface HtmlTableSink {
  readonly row: (row: HtmlRow) => void
  /** A row that cannot be read; or, at the end, a page that is cut off. */
  readonly refuse: (table: number, refusal: Refusal) => void
}

/** Open elements, all of which the parser searches at each tag. Browsers nest no deeper than 512. */
const MAX_DEPTH = 1_000
/** A page whose reading was stopped is parsed to the end of such a step, and no further. */
const STEP_LENGTH = 16_384
/** How many cells merged areas may cover on any page, and how many more for each character. */
const FREE_CELLS = 250_000
const CELLS_PER_CHARACTER = 8

export class HtmlTables {
  readonly #sink: HtmlTableSink
  readonly #parser: Parser
  /** Tables begun so far, and how many of them the parser is inside. */
  #table = 0
  #depth = 0
  #line = 0
  #cells: Array<string> | undefined
  #isHeading = true
  #column = 0
  /** For each column, how many further rows a cell above reaches into. */
  #down: Array<number> = []
  #text: Array<string> | undefined
  #hidden: string | undefined
  #isCaption = false
  #length = 0
  #isRefused = false
  /** Characters since the last finding: a tag or a comment without an end would otherwise be kept whole. */
  #unfound = 0
  /** Open elements, and cells that merged areas have covered so far. */
  #nested = 0
  #covered = 0
  #isStopped = false
  #isPageEnded = false

  constructor(sink: HtmlTableSink) {
    this.#sink = sink
    this.#parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      onclosetag: (name, isImplied) => {
        this.#nested--
        if (!isImplied) this.#close(name)
      },
      ontext: (text) => this.#write(text),
      oncomment: () => (this.#unfound = 0),
      onprocessinginstruction: () => (this.#unfound = 0),
    })
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isStopped; at += STEP_LENGTH) {
      const step = text.slice(at, at + STEP_LENGTH)
      this.#unfound += step.length
      this.#parser.write(step)
      if (this.#isStopped) return
      if (this.#unfound > MAX_ITEM_LENGTH) this.#stop(tooLong("a tag or a comment"))
    }
  }

  end(): void {
    if (this.#isStopped) return
    const isOpen = this.#depth > 0 && !this.#isPageEnded
    this.#endRow()
    if (isOpen) this.#stop("the file ends in the middle of the table")
    this.#parser.end()
  }

  #stop(reason: string): void {
    this.#isStopped = true
    this.#cells = undefined
    this.#text = undefined
    this.#sink.refuse(Math.max(1, this.#table), { line: Math.max(1, this.#line), column: null, reason })
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#unfound = 0
    this.#nested++
    if (this.#isStopped) return
    if (this.#nested > MAX_DEPTH) return this.#stop(`more than ${MAX_DEPTH} elements stand inside each other`)
    if (HIDDEN.has(name)) this.#hidden ??= name
    if (name === "table") return this.#openTable()
    if (this.#depth !== 1) return
    if (name === "tr") this.#openRow()
    else if (name === "td" || name === "th") this.#openCell(name, attributes)
    else if (name === "caption") this.#isCaption = true
    else if (SECTIONS.has(name)) this.#endSection()
    else if (BLOCKS.has(name)) this.#break()
  }

  #close(name: string): void {
    this.#unfound = 0
    if (this.#isStopped) return
    if (name === this.#hidden) this.#hidden = undefined
    if (name === "body" || name === "html") this.#isPageEnded = true
    if (name === "table" && this.#depth > 0) {
      if (this.#depth === 1) this.#endRow()
      this.#depth--
    }
    if (this.#depth !== 1) return
    if (name === "tr") this.#endRow()
    else if (name === "td" || name === "th") this.#endCell()
    else if (name === "caption") this.#isCaption = false
    else if (SECTIONS.has(name)) this.#endSection()
    else if (BLOCKS.has(name)) this.#break()
  }

  #write(text: string): void {
    this.#unfound = 0
    if (this.#isStopped || this.#depth !== 1 || this.#hidden !== undefined || this.#isRefused) return
    if (this.#text === undefined) return this.#writeOutside(text)
    this.#length += text.length
    if (this.#length > MAX_ITEM_LENGTH) return this.#refuseRow(null, tooLong("the row"))
    this.#text[this.#text.length - 1] += text
  }

  /** Text between the cells, or after a row. Above the first row it is a title. */
  #writeOutside(text: string): void {
    if (this.#line > 0 && !this.#isCaption && /\S/.test(text))
      this.#refuseRow(null, "the row has text outside its cells")
  }

  /** A line break is a character of the row, so that breaks alone do not collect without limit. */
  #break(): void {
    if (this.#text === undefined) return
    this.#length++
    if (this.#length > MAX_ITEM_LENGTH) return this.#refuseRow(null, tooLong("the row"))
    this.#text.push("")
  }

  #openTable(): void {
    this.#depth++
    if (this.#depth === 1) {
      this.#table++
      this.#line = 0
      this.#down = []
    } else if (this.#depth === 2) {
      if (this.#cells === undefined) this.#openRow()
      this.#refuseRow(this.#column + 1, "a table stands inside the table")
    }
  }

  #openRow(): void {
    this.#endRow()
    this.#line++
    this.#isCaption = false
    this.#cells = []
    this.#isHeading = true
    this.#column = 0
    this.#length = 0
    this.#isRefused = false
  }

  #openCell(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#endCell()
    if (this.#cells === undefined) this.#openRow()
    const cells = this.#cells!
    const passed = cells.length
    while ((this.#down[cells.length] ?? 0) > 0) this.#pass(cells)
    this.#column = cells.length
    if (!this.#cover(cells.length - passed)) return
    if (name === "td") this.#isHeading = false
    const columns = columnSpan(attributes["colspan"])
    const rows = rowSpan(attributes["rowspan"])
    if (cells.length + columns > MAX_CELLS) return this.#refuseRow(null, `the row has more than ${MAX_CELLS} cells`)
    if (!this.#cover(columns - 1)) return
    for (let n = 0; n < columns; n++) {
      this.#down[cells.length] = rows - 1
      cells.push("")
    }
    this.#text = [""]
  }

  /** Leaves a cell empty if one above reaches into it. */
  #pass(cells: Array<string>): void {
    this.#down[cells.length] = (this.#down[cells.length] ?? 1) - 1
    cells.push("")
  }

  /** False if merged areas have covered more cells than a page of this length may have. */
  #cover(cells: number): boolean {
    this.#covered += cells
    if (this.#covered <= FREE_CELLS + CELLS_PER_CHARACTER * this.#parser.endIndex) return true
    this.#stop("its merged cells cover far more cells than the page has characters")
    return false
  }

  #endCell(): void {
    if (this.#text === undefined) return
    if (this.#cells !== undefined) this.#cells[this.#column] = shownText(this.#text)
    this.#text = undefined
  }

  #endRow(): void {
    this.#endCell()
    const cells = this.#cells
    if (cells === undefined) return
    this.#cells = undefined
    const isHeading = this.#isHeading && cells.length > 0
    while ((this.#down.at(-1) ?? 1) <= 0) this.#down.pop()
    if (!this.#cover(Math.max(0, this.#down.length - cells.length))) return
    for (let n = cells.length; n < this.#down.length; n++) {
      if ((this.#down[n] ?? 0) > 0) {
        while (cells.length < n) cells.push("")
        this.#pass(cells)
      }
    }
    if (this.#isRefused || cells.every((cell) => cell === "")) return
    this.#sink.row({ table: this.#table, line: this.#line, cells, isHeading })
  }

  /** Merged cells end with their section. */
  #endSection(): void {
    this.#endRow()
    this.#down = []
  }

  #refuseRow(column: number | null, reason: string): void {
    if (!this.#isRefused) this.#sink.refuse(this.#table, { line: this.#line, column, reason })
    this.#isRefused = true
    this.#text = undefined
  }
}
