/**
 * Reads comma-separated or otherwise separated text in pieces: RFC 4180, with LF, CR LF or CR as line ending. Quotes in
 * an unquoted cell are kept. Refuses text after a closing quote and a quote that is never closed; nothing is repaired
 * by guessing.
 */
import { MAX_ITEM_LENGTH, tooLong, type Refusal } from "./FileItem.ts"

/** The cells of a line. */
export interface CsvRecord {
  readonly line: number
  readonly cells: ReadonlyArray<string>
  /** Where each cell begins, in characters from 1; a cell on a later line of the record counts from the start of that line. */
  readonly columns: ReadonlyArray<number>
  /** The text ended with this record, without a line ending. */
  readonly last: boolean
}

const START = 0
const PLAIN = 1
const QUOTED = 2
const CLOSED = 3

/** No character has this code. */
const NEVER = -1

const LF = 10
const CR = 13
const QUOTE = 34

export class CsvReader {
  /** The delimiter, and the code of its first character. */
  readonly #delimiter: string
  readonly #first: number
  /** The end of the last piece, if it is the beginning of a delimiter. */
  #cut = ""
  #isEnded = false
  readonly #record: (record: CsvRecord) => void
  readonly #refuse: (refusal: Refusal) => void
  #state = START
  #cells: Array<string> = []
  #columns: Array<number> = []
  #cell = ""
  #held = 0
  #line: number
  #recordLine: number
  /** The number of characters before this piece, and before the current line. */
  #base = 0
  #lineStart = 0
  #afterCr = false
  /** The same inside quotes, where the line ending is kept. */
  #crInside = false
  #refused = false
  #stopped = false
  #quote = { line: 0, column: 0 }

  /** An empty delimiter reads each line as one cell. `line` is the number of the first line. */
  constructor(delimiter: string, record: (record: CsvRecord) => void, refuse: (refusal: Refusal) => void, line = 1) {
    this.#line = line
    this.#recordLine = line
    this.#delimiter = delimiter
    this.#first = delimiter === "" ? NEVER : delimiter.charCodeAt(0)
    this.#record = record
    this.#refuse = refuse
  }

  push(piece: string): void {
    const text = this.#cut + piece
    this.#cut = ""
    this.#read(text)
  }

  #read(text: string): void {
    let at = 0
    const end = text.length
    while (at < end && !this.#stopped) {
      if (this.#afterCr) {
        this.#afterCr = false
        if (text.charCodeAt(at) === LF) {
          at++
          this.#lineStart++
          continue
        }
      }
      if (this.#state === START) {
        this.#columns.push(this.#base + at - this.#lineStart + 1)
        if (text.charCodeAt(at) === QUOTE) {
          this.#quote = { line: this.#line, column: this.#columns.at(-1)! }
          this.#state = QUOTED
          at++
        } else this.#state = PLAIN
      } else if (this.#state === PLAIN) at = this.#plain(text, at)
      else if (this.#state === QUOTED) at = this.#quoted(text, at)
      else at = this.#closed(text, at)
    }
    this.#base += end - this.#cut.length
  }

  end(): void {
    const cut = this.#cut
    this.#isEnded = true
    this.#cut = ""
    this.#read(cut)
    if (this.#stopped) return
    if (this.#state === QUOTED) return this.#stop("a quote opened here is never closed")
    if (this.#cells.length === 0 && isEndMark(this.#cell)) return
    if (this.#state !== START || this.#cells.length > 0) {
      if (this.#state === START) this.#columns.push(this.#base - this.#lineStart + 1)
      this.#endCell()
      this.#endRecord(true)
    }
  }

  #plain(text: string, from: number): number {
    const first = this.#first
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== first && code !== LF && code !== CR) continue
      if (code === first && this.#delimiter.length > 1) {
        if (this.#isCut(text, at)) {
          this.#take(text.slice(from, at))
          return text.length
        }
        if (!text.startsWith(this.#delimiter, at)) continue
      }
      this.#take(text.slice(from, at))
      return this.#separator(code, at)
    }
    this.#take(text.slice(from))
    return text.length
  }

  /** Keeps what may be the beginning of a delimiter for the next piece. */
  #isCut(text: string, at: number): boolean {
    if (this.#isEnded || text.length - at >= this.#delimiter.length) return false
    const rest = text.slice(at)
    if (!this.#delimiter.startsWith(rest)) return false
    this.#cut = rest
    return true
  }

  #quoted(text: string, from: number): number {
    const found = text.indexOf('"', from)
    const to = found === -1 ? text.length : found
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at)
      if (code !== LF && code !== CR) continue
      const afterCr = at === from ? this.#crInside : text.charCodeAt(at - 1) === CR
      if (code === CR || !afterCr) this.#line++
      this.#lineStart = this.#base + at + 1
    }
    if (to > from) this.#crInside = text.charCodeAt(to - 1) === CR
    if (found !== -1) this.#crInside = false
    this.#take(text.slice(from, to))
    if (found === -1) return to
    this.#state = CLOSED
    return found + 1
  }

  #closed(text: string, at: number): number {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      this.#take('"')
      this.#state = QUOTED
      return at + 1
    }
    if (code === this.#first && this.#isCut(text, at)) return text.length
    if (text.startsWith(this.#delimiter, at) && this.#first !== NEVER) return this.#separator(code, at)
    if (code === LF || code === CR) return this.#separator(code, at)
    this.#refuseRecord(this.#line, this.#base + at - this.#lineStart + 1, "text follows a closing quote")
    this.#state = PLAIN
    return at
  }

  #separator(code: number, at: number): number {
    this.#endCell()
    if (code !== this.#first) {
      this.#endRecord(false)
      this.#line++
      this.#recordLine = this.#line
      this.#lineStart = this.#base + at + 1
      this.#afterCr = code === CR
    } else if (this.#cells.length >= MAX_CELLS && !this.#refused) {
      this.#refuseRecord(this.#recordLine, null, `a line has more than ${MAX_CELLS} cells`)
    }
    return at + (code === this.#first ? this.#delimiter.length : 1)
  }

  /** An unclosed quote would read the rest of the file as one cell, so the size of a record is limited. */
  #take(text: string): void {
    this.#held += text.length
    if (this.#held <= MAX_ITEM_LENGTH) this.#cell += text
    else if (this.#state === QUOTED) this.#stop(`a quote is opened here, and ${tooLong("the line that it is in")}`)
    else this.#refuseRecord(this.#recordLine, null, tooLong("the line"))
  }

  #endCell(): void {
    if (this.#refused) this.#columns.length = 0
    else this.#cells.push(this.#cell)
    this.#cell = ""
    this.#state = START
  }

  #endRecord(last: boolean): void {
    const blank = this.#cells.length === 1 && this.#cells[0] === "" && !last
    if (!this.#refused && !blank) {
      this.#record({ line: this.#recordLine, cells: this.#cells, columns: this.#columns, last })
    }
    this.#cells = []
    this.#columns = []
    this.#held = 0
    this.#refused = false
  }

  #refuseRecord(line: number, column: number | null, reason: string): void {
    if (!this.#refused) this.#refuse({ line, column, reason })
    this.#refused = true
    this.#cells = []
    this.#cell = ""
  }

  /** After this position, cells can no longer be distinguished. */
  #stop(reason: string): void {
    this.#refuse({ ...this.#quote, reason })
    this.#stopped = true
  }
}

/** Ctrl-Z after the last line, by which programs of DOS mark the end of a text; some fill the last block with it. */
export const isEndMark = (rest: string): boolean =>
  rest.length > 0 && rest.length <= MOST_END_MARKS && rest === "\u001A".repeat(rest.length)

const MOST_END_MARKS = 1_024

/** As many as the widest spreadsheet has. */
export const MAX_CELLS = 16_384
