/**
 * The first of two passes over a file: its hash, by which a repeated file is recognized, its charset and format, and how
 * its lines are to be read. Options of the caller override what is detected.
 */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { bufferOf } from "../text/Charset.ts"
import { type CsvShape, csvShape } from "./CsvShape.ts"
import { MAX_DELIMITER } from "./CompoundDelimiter.ts"
import { ONE_COLUMN } from "./Delimiter.ts"
import { CharsetDetector, type FileCharset, hasOpenByteOrder, namedCharset, TextDecoding } from "../text/FileCharset.ts"
import { type FileError, fileError } from "./FileError.ts"
import { FILE_FORMATS, type FileFormat, formatOf, isWorkbook, isZip, workbookFormat } from "./FileFormat.ts"
import { type HtmlShape, htmlShape, statedCharset } from "./HtmlShape.ts"
import { foreignFile, isHtml, isOleContainer, OleContainer } from "./ForeignFile.ts"
import { foreignLines } from "./ForeignLines.ts"
import { foreignName } from "./ForeignName.ts"
import { isPointer } from "./PointedReader.ts"
import type { ReadableFile } from "./ReadableFile.ts"

/** What the caller knows about a file; absent options are detected. */
export interface FileOptions {
  /** Default: detected from its name and first bytes. */
  readonly format?: FileFormat | undefined
  /** The name of a charset as used on the web, or `utf-16`. */
  readonly encoding?: string | undefined
  /** One to four characters, `tab`, or `none` for a file of one column; default: detected. */
  readonly delimiter?: string | undefined
  /** Whether the first row holds the names; default: detected from the rows. */
  readonly header?: boolean | undefined
  /** The line, or the row of a sheet, that holds the names; everything above it is left out. Default: detected. */
  readonly headerRow?: number | undefined
  /** For a spreadsheet: the sheet's name, or its number from 1. */
  readonly sheet?: string | undefined
  /** For JSON: the pointer to the list. */
  readonly pointer?: string | undefined
}

/** How strictly a file is inspected. */
export interface FileScrutiny {
  /**
   * Refuses documents that are not tables even if the format is given, because it was given for the poll, not for this
   * response.
   */
  readonly refusesForeign: boolean
  /** Reads the table of an HTML page. Polls do not: there, a page is what a server returns instead of the list. */
  readonly readsPages: boolean
}

export interface FileInspection {
  readonly format: FileFormat
  readonly sha256: Uint8Array
  readonly bytes: number
  /** Null for a spreadsheet. */
  readonly charset: FileCharset | null
  readonly csv: CsvShape | null
  readonly html: HtmlShape | null
  readonly sheet: string | undefined
  /** The row of a sheet at which reading begins, from 1. */
  readonly headerRow: number
  /** Whether the caller named that row. */
  readonly isHeaderRowGiven: boolean
  readonly pointer: string
}

/** The beginning of a file from which its shape and format are detected. */
const SAMPLE_BYTES = 262_144

/** The maximum size of a file in bytes; anything larger is likely a database. */
export const MAX_FILE_BYTES = 64 * 1024 ** 3

/**
 * Inspects a file: its hash, charset, format and shape. Fails for invalid options, and for files that hold no table.
 */
export const inspectFile = (
  file: ReadableFile,
  options: FileOptions,
  scrutiny: FileScrutiny = { refusesForeign: options.format === undefined, readsPages: true },
): Effect.Effect<FileInspection, FileError> =>
  Effect.gen(function* () {
    const given = yield* checkOptions(options)
    const sum = createHash("sha256")
    const witness = new CharsetDetector()
    const sample: Array<Uint8Array> = []
    let bytes = 0
    let container: OleContainer | undefined
    yield* Stream.runForEach(file.bytes, (chunk) => {
      sum.update(chunk)
      if (bytes === 0 && isOleContainer(chunk)) container = new OleContainer()
      container?.see(chunk)
      if (bytes < SAMPLE_BYTES) sample.push(chunk.slice(0, SAMPLE_BYTES - bytes))
      bytes += chunk.length
      if (bytes > MAX_FILE_BYTES)
        return Effect.fail(fileError("too_large", `A file may be at most ${MAX_FILE_BYTES} bytes.`))
      witness.see(chunk)
      return Effect.void
    })
    const head = Buffer.concat(sample)
    const common = {
      sha256: sum.digest(),
      bytes,
      pointer: options.pointer ?? "",
      headerRow: options.headerRow ?? 1,
      isHeaderRowGiven: options.headerRow !== undefined,
    }
    if (container !== undefined) return yield* fileError("unreadable", `This is ${container.what}.`)
    const asWorkbook = options.format !== undefined && isWorkbook(options.format)
    if (asWorkbook || (scrutiny.refusesForeign && isZip(head))) {
      if (!isZip(head)) return yield* fileError("unreadable", "This is not an XLSX or ODS workbook.")
      return { ...common, format: workbookFormat(head), charset: null, csv: null, html: null, sheet: options.sheet }
    }
    const detected = witness.decide()
    const isOpen = given.charset !== null && hasOpenByteOrder(options.encoding ?? "")
    const isOfFamily = isOpen && detected.unit === given.charset?.unit
    const charset = given.charset === null || isOfFamily ? detected : given.charset
    const text = new TextDecoding(charset).write(bufferOf(head)).replace(/^\uFEFF/, "")
    const isPage = scrutiny.readsPages && options.format === undefined && isHtml(text)
    if (isPage || options.format === "html") {
      const stated = given.charset === null ? (statedCharset(head, detected) ?? charset) : charset
      const html = yield* htmlShape(file, stated, options)
      return {
        ...common,
        headerRow: html.firstLine,
        format: "html",
        charset: stated,
        csv: null,
        html,
        sheet: undefined,
      }
    }
    const foreign = scrutiny.refusesForeign ? foreignFile(head, text) : undefined
    if (foreign !== undefined) return yield* fileError("unreadable", `This is ${foreign}.`)
    const format = options.format ?? formatOf(file.name, text)
    const separated = format === "csv" || format === "tsv"
    const named = separated && scrutiny.readsPages && options.format === undefined ? foreignName(file.name) : undefined
    if (named !== undefined) {
      return yield* fileError("unreadable", `By its name this is ${named}: pass the format csv if it is a table.`)
    }
    const delimiter = given.delimiter ?? (format === "tsv" ? "\t" : undefined)
    const isOpenText = separated && scrutiny.readsPages && scrutiny.refusesForeign && delimiter === undefined
    const lines = isOpenText && options.header !== false ? foreignLines(text) : undefined
    if (lines !== undefined) return yield* fileError("unreadable", `This is ${lines}.`)
    const csv = separated ? csvShape(text, bytes <= SAMPLE_BYTES, { ...options, delimiter }) : null
    return { ...common, format, charset, csv, html: null, sheet: undefined }
  })

/** Delimiters that are easier to name than to type. */
const DELIMITER_NAMES: Readonly<Record<string, string>> = { "\\t": "\t", tab: "\t", none: ONE_COLUMN }

/** Validates the caller's options before a byte is read. */
const checkOptions = Effect.fnUntraced(function* (options: FileOptions) {
  const refuse = (message: string) => fileError("bad_option", message)
  if (options.format !== undefined && !FILE_FORMATS.includes(options.format)) {
    return yield* refuse(`The format must be one of ${FILE_FORMATS.join(", ")}.`)
  }
  const charset = options.encoding === undefined ? null : namedCharset(options.encoding)
  if (options.encoding !== undefined && charset === null) {
    return yield* refuse(
      `The encoding ${options.encoding} is not supported: utf-8, utf-16, windows-1251, latin-1, koi8-r, ….`,
    )
  }
  const delimiter = DELIMITER_NAMES[options.delimiter ?? ""] ?? options.delimiter
  if (
    options.delimiter !== "none" &&
    delimiter !== undefined &&
    (delimiter.length < 1 || delimiter.length > MAX_DELIMITER || /["\r\n]/.test(delimiter))
  ) {
    return yield* refuse("The delimiter must be tab, none, or one to four characters without a quote or a line break.")
  }
  const { headerRow } = options
  if (headerRow !== undefined && !(Number.isSafeInteger(headerRow) && headerRow >= 1)) {
    return yield* refuse("The header's row must be a number from 1.")
  }
  if (headerRow !== undefined && options.header === false) {
    return yield* refuse("A header's row and no header exclude each other.")
  }
  if (!isPointer(options.pointer ?? ""))
    return yield* refuse("A pointer must be empty or begin with a slash, such as /data/items.")
  return { charset, delimiter }
})
