/**
 * Rows as lines of text. A value is written as the API's own token, digit by digit; nothing is parsed as a number. A text
 * may hold a separator, a quote or a line break: it is then quoted, as RFC 4180 has it, also in a file separated by tabs.
 */
import type { Column } from "../row/Table.ts"
import { cellTokens, shownText } from "../row/CellTokens.ts"
import type { RowEncoder } from "./ExportFormat.ts"

/** The formats that are text. */
export const TEXT_FORMATS = ["csv", "tsv", "ndjson"] as const
/** A format that is text. */
export type TextFormat = (typeof TEXT_FORMATS)[number]

/** Options of a separated file; NDJSON has none. */
export interface TextOptions {
  /** One character; by default a comma, or a tab in a TSV file. */
  readonly delimiter?: string | undefined
  /** Begins the file with a byte order mark, by which Excel recognizes UTF-8. */
  readonly bom?: boolean | undefined
  /** Puts an apostrophe before a text that a spreadsheet would run as a formula. */
  readonly safeForSpreadsheets?: boolean | undefined
}

export interface RowText {
  readonly contentType: string
  /** The beginning of the file. */
  readonly head: (columns: ReadonlyArray<Pick<Column, "name">>) => string
  /** One row, from its JSON. */
  readonly row: (row: string) => string
}

const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  tsv: "text/tab-separated-values; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
}

export const rowText = (format: TextFormat, options: TextOptions = {}): RowText => {
  const contentType = CONTENT_TYPES[format]
  if (format === "ndjson") return { contentType, head: () => "", row: (row) => `${row}\n` }
  const delimiter = options.delimiter ?? (format === "tsv" ? "\t" : ",")
  const field = fieldOf(delimiter, options.safeForSpreadsheets ?? false)
  const line = (fields: ReadonlyArray<string>) => `${fields.join(delimiter)}\r\n`
  return {
    contentType,
    head: (columns) =>
      (options.bom === true ? "\ufeff" : "") + line(columns.map(({ name }) => field(JSON.stringify(name)))),
    row: (row) => line(cellTokens(row).map(field)),
  }
}

/** The whole file, in pieces. */
export const encodeText = (format: TextFormat, options: TextOptions = {}): RowEncoder => {
  const { head, row } = rowText(format, options)
  return async function* ({ columns, batches }) {
    const first = head(columns)
    if (first !== "") yield Buffer.from(first)
    for await (const items of batches) yield Buffer.from(items.texts().map(row).join(""))
  }
}

/** Why this text cannot separate fields; null if it can. */
export const refusedDelimiter = (delimiter: string): string | null =>
  /^[^"\r\n\0\ufeff\ud800-\udfff]$/.test(delimiter)
    ? null
    : "The delimiter must be one character, and neither a quote nor a line break."

/** Characters that begin a formula in spreadsheets, including the wide forms of East Asian keyboards. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** A number is not a formula, whatever its sign. */
const NUMBER = /^[+-]?[\d.,]+(?:[eE][+-]?\d+)?$/

/** Quotes an empty text, so that it differs from a missing value. */
const fieldOf = (delimiter: string, isSafe: boolean) => {
  const special = new RegExp(`["\\r\\n${delimiter.replace(/[\\\]^-]/, "\\$&")}]`)
  return (token: string): string => {
    if (token === "null") return ""
    const shown = shownText(token)
    const text = isSafe && token[0] === '"' && FORMULA.test(shown) && !NUMBER.test(shown) ? `'${shown}` : shown
    return text === "" || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
}
