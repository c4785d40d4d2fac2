/**
 * The first of two passes over a file: its hash, by which a repeated file is recognized, its charset and format, and how
 * its lines are to be read. Options of the caller override what is detected.
 */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import { bufferOf } from "../text/Charset.ts"
import { type CsvShape, csvShape } from "./CsvShape.ts"
import { CharsetDetector, type FileCharset, namedCharset, TextDecoding } from "../text/FileCharset.ts"
import { type FileError, fileError } from "./FileError.ts"
import { FILE_FORMATS, type FileFormat, formatOf, isWorkbook, isZip, workbookFormat } from "./FileFormat.ts"
import { foreignFile, isOleContainer, OleContainer } from "./ForeignFile.ts"
import { isPointer } from "./JsonReader.ts"
import type { ReadableFile } from "./ReadableFile.ts"

/** What the caller knows about a file; absent options are detected. */
export interface FileOptions {
  /** By default detected from its name and its first bytes. */
  readonly format?: FileFormat | undefined
  /** The name of a charset as used on the web, or `utf-16`. */
  readonly encoding?: string | undefined
  /** One character; `\t` and `tab` are accepted too. */
  readonly delimiter?: string | undefined
  /** Whether the first row holds the names; by default detected from the rows. */
  readonly header?: boolean | undefined
  /** For a spreadsheet: the sheet's name, or its number from 1. */
  readonly sheet?: string | undefined
  /** For JSON: the pointer to the list. */
  readonly pointer?: string | undefined
}

export interface FileInspection {
  readonly format: FileFormat
  readonly sha256: Uint8Array
  readonly bytes: number
  /** Null for a spreadsheet. */
  readonly charset: FileCharset | null
  readonly csv: CsvShape | null
  readonly sheet: string | undefined
  readonly pointer: string
}

/** The beginning of a file from which its shape and format are detected. */
const SAMPLE_BYTES = 262_144

/** The maximum size of a file in bytes; anything larger is rather a database. */
export const MAX_FILE_BYTES = 64 * 1024 ** 3

export const inspectFile = (file: ReadableFile, options: FileOptions): Effect.Effect<FileInspection, FileError> =>
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
    const common = { sha256: sum.digest(), bytes, pointer: options.pointer ?? "" }
    if (container !== undefined) return yield* fileError("unreadable", `This is ${container.what}.`)
    const asWorkbook = options.format !== undefined && isWorkbook(options.format)
    if (asWorkbook || (options.format === undefined && isZip(head))) {
      if (!isZip(head)) return yield* fileError("unreadable", "This is not an XLSX or ODS workbook.")
      return { ...common, format: workbookFormat(head), charset: null, csv: null, sheet: options.sheet }
    }
    const charset = given.charset ?? witness.decide()
    const text = new TextDecoding(charset).write(bufferOf(head)).replace(/^\uFEFF/, "")
    const foreign = options.format === undefined ? foreignFile(head, text) : undefined
    if (foreign !== undefined) return yield* fileError("unreadable", `This is ${foreign}, not a table.`)
    const format = options.format ?? formatOf(file.name, text)
    const separated = format === "csv" || format === "tsv"
    const delimiter = given.delimiter ?? (format === "tsv" ? "\t" : undefined)
    const csv = separated ? csvShape(text, bytes <= SAMPLE_BYTES, { delimiter, header: options.header }) : null
    return { ...common, format, charset, csv, sheet: undefined }
  })

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
  const delimiter = options.delimiter === "\\t" || options.delimiter === "tab" ? "\t" : options.delimiter
  if (delimiter !== undefined && (delimiter.length !== 1 || /["\r\n]/.test(delimiter))) {
    return yield* refuse("The delimiter must be one character, and neither a quote nor a line break.")
  }
  if (!isPointer(options.pointer ?? ""))
    return yield* refuse("A pointer must be empty or begin with a slash, such as /data/items.")
  return { charset, delimiter }
})
