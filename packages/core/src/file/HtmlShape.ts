/** Finds the table of an HTML page, and where that table begins. A page of several tables needs a choice. */
import { Effect, Stream } from "effect"
import { type FileCharset, namedCharset, TextDecoding } from "../text/FileCharset.ts"
import { constancy } from "./Constancy.ts"
import type { CsvRecord } from "./CsvReader.ts"
import { isValue } from "./CsvSample.ts"
import { type FileError, fileError, sheetError } from "./FileError.ts"
import { type HtmlRow, HtmlTables } from "./HtmlTables.ts"
import type { ReadableFile } from "./ReadableFile.ts"
import { tableBegin } from "./TableBegin.ts"

/** How a page is read. */
export interface HtmlShape {
  /** The table's number in the page, from 1. */
  readonly table: number
  /** Whether the page has no other. */
  readonly isOnly: boolean
  readonly header: boolean
  /** The row where it begins, counted from 1, and how many rows above it are titles. */
  readonly firstLine: number
  readonly titles: number
}

/** What the caller specifies; the rest is detected. */
export interface GivenHtmlShape {
  readonly header?: boolean | undefined
  readonly headerRow?: number | undefined
  /** The number of a table. */
  readonly sheet?: string | undefined
}

const SAMPLE_ROWS = 200

/** Tables that a refusal lists. */
const MAX_LISTED = 20

/** The first bytes of a page, in which it may state its charset. */
const META_BYTES = 4_096

/** The charset that a page declares. Null if it declares no known charset, or if its bytes contradict the declaration. */
export const statedCharset = (head: Uint8Array, detected: FileCharset): FileCharset | null => {
  if (detected.decidedBy !== "bytes" || detected.unit !== undefined) return null
  const text = Buffer.from(head.subarray(0, META_BYTES)).toString("latin1")
  const label = /<meta\s[^<>]{0,500}\bcharset\s*=\s*["']?([\w.:-]{1,40})/i.exec(text)?.[1]
  const declared = /^\s*<\?xml\s[^<>]{0,200}\bencoding\s*=\s*["']([\w.:-]{1,40})/i.exec(text)?.[1]
  const stated = namedCharset(label ?? declared ?? "")
  return stated === null || stated.unit !== undefined ? null : { ...stated, decidedBy: "page" }
}

const recordOf = ({ line, cells }: HtmlRow): CsvRecord => ({ line, cells, columns: [], last: false })

const beginOf = (rows: ReadonlyArray<HtmlRow>, given: GivenHtmlShape) => {
  if (given.headerRow !== undefined) return { header: true, firstLine: given.headerRow, titles: 0 }
  const records = rows.map(recordOf)
  const { width } = constancy(records.map(({ cells }) => cells.length))
  const begin = given.header === false || rows[0]?.isHeading === true ? 0 : tableBegin(records, width)
  const first = rows[begin]
  const header = given.header ?? (first?.isHeading === true || !(first?.cells ?? []).some(isValue))
  return { header, firstLine: first?.line ?? 1, titles: begin }
}

/** The rows of one table, and the numbers of a few others: a page can have millions of tables. */
class PageTables {
  readonly #wanted: number | null
  readonly rows: Array<HtmlRow> = []
  /** The first tables, and the number of all. */
  readonly numbers: Array<number> = []
  count = 0
  /** The table whose rows are kept; null while it was not found. */
  table: number | null = null
  #last = 0

  /** `wanted`: null for the first table. */
  constructor(wanted: number | null) {
    this.#wanted = wanted
  }

  /** Called for each row, in the page's order. */
  isWanted(table: number): boolean {
    if (table !== this.#last) {
      this.#last = table
      this.count++
      if (this.numbers.length < MAX_LISTED) this.numbers.push(table)
    }
    if (table !== (this.#wanted ?? this.numbers[0])) return false
    this.table = table
    return true
  }
}

/** Goes through the page once. */
export const htmlShape = (
  file: ReadableFile,
  charset: FileCharset,
  given: GivenHtmlShape,
): Effect.Effect<HtmlShape, FileError> =>
  Effect.gen(function* () {
    const found = new PageTables(given.sheet === undefined ? null : Number(given.sheet))
    const tokens = new HtmlTables({
      row: (row) => {
        if (found.isWanted(row.table) && found.rows.length < SAMPLE_ROWS) found.rows.push(row)
      },
      refuse: (table) => void found.isWanted(table),
    })
    const decoding = new TextDecoding(charset)
    yield* Stream.runForEach(file.bytes, (chunk) => Effect.sync(() => tokens.push(decoding.write(chunk))))
    tokens.push(decoding.end())
    tokens.end()
    const { table, numbers, count, rows } = found
    const [only] = numbers
    if (only === undefined)
      return yield* fileError("unreadable", "This is an HTML page, although its name may say otherwise, not a table.")
    const listed = numbers.join(", ")
    if (given.sheet === undefined && count > 1) {
      const words = `This HTML page has ${count} tables: pass the number of one as its sheet (${listed}).`
      return yield* sheetError(words)
    }
    if (table === null) return yield* sheetError(`This HTML page has no table ${given.sheet}: pass one of ${listed}.`)
    return { table, isOnly: count === 1, ...beginOf(rows, given) }
  })
