/**
 * Imports a file into a source: it is inspected, read and staged completely, then accepted in slices. If one row cannot
 * become an event, nothing of the file is accepted, unless the caller requests otherwise; refused rows are reported by line
 * and column.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { DateNotation, NumberNotation } from "../row/Notation.ts"
import { SourceColumnStore } from "../row/SourceColumnStore.ts"
import { Sources } from "../source/Sources.ts"
import { AcceptStaged } from "./AcceptStaged.ts"
import type { CsvReading } from "./CsvShape.ts"
import type { Doubt } from "./Doubt.ts"
import type { FileError } from "./FileError.ts"
import { FileImporter } from "./FileImporter.ts"
import type { NotationMisfit, ReadField } from "./FileNotation.ts"
import type { FileFormat } from "./FileFormat.ts"
import type { FileOptions } from "./FileInspection.ts"
import type { Refusal } from "./FileItem.ts"
import { type ReadableFile, ArchiveReader } from "./ReadableFile.ts"
import { SheetReader } from "./SheetReader.ts"
import { type ImportStatus, ImportStore, importShape } from "./ImportStore.ts"

/** How a file is imported. */
export interface ImportOptions extends FileOptions {
  /** How numbers are written in texts: `comma` (1.234,50) or `dot`. Such fields become numbers; by default texts stay texts. */
  readonly numbers?: NumberNotation | undefined
  /** The order of day, month and year in texts: `dmy`, `mdy` or `ymd`. Such fields become days as `2026-03-02`. */
  readonly dates?: DateNotation | undefined
  /** Reads and reports, and stores nothing. */
  readonly dryRun?: boolean | undefined
  /** Imports a file again that was imported before. */
  readonly again?: boolean | undefined
  /** Accepts the valid rows and skips the others. */
  readonly skipRefused?: boolean | undefined
}

/**
 * `refused`: rows were refused, so nothing was accepted. `unclear`: several delimiters fit, and the caller must choose from
 * `readings`; nothing was accepted. `accepting`: staged, and accepted in the background.
 */
export interface ImportReport {
  readonly state: "done" | "accepting" | "refused" | "unclear" | "dry_run" | "failed"
  readonly importId: number | null
  readonly sourceId: number
  readonly file: string
  readonly bytes: number
  readonly format: FileFormat
  /** Null for a spreadsheet, which declares its own encoding. */
  readonly encoding: string | null
  /** `none` for a file of one column. Null for other formats, and while it is unclear. */
  readonly delimiter: string | null
  readonly header: boolean | null
  /** The line that holds the names; null without a header. */
  readonly headerRow: number | null
  readonly sheet: string | null
  /** The number of rows that become events, or would; and how many already have. */
  readonly rows: number
  readonly accepted: number
  readonly refused: number
  /** The first of the refused rows. */
  readonly refusals: ReadonlyArray<Refusal>
  /** How many characters could not be decoded and became U+FFFD. */
  readonly replaced: number
  /** Parts that were read, but deserve a look. */
  readonly doubts: ReadonlyArray<Doubt>
  /** With the state `unclear`: what the file becomes with each delimiter that fits. */
  readonly readings: ReadonlyArray<CsvReading>
  /** With a notation: the fields that follow it, at least in part. */
  readonly readAs: ReadonlyArray<ReadField>
  /** With a notation: the first values of these fields that do not follow it, and stay texts. */
  readonly misfits: ReadonlyArray<NotationMisfit>
  /** The first rows as they would be read back, as JSON texts. */
  readonly preview: ReadonlyArray<string>
  /** The earlier import of this file into this source, if there was one. */
  readonly importedBefore: ImportStatus | null
  readonly failure: string | null
}

/** The progress of an import. */
export interface ImportProgress {
  readonly phase: "looking" | "staging" | "accepting"
  readonly done: number
  /** In the unit of `done`: bytes while inspecting and staging, rows while accepting. Null if unknown. */
  readonly total: number | null
}

/** Called with the progress of an import. */
export type OnProgress = (progress: ImportProgress) => Effect.Effect<void>

export class Import extends Context.Service<
  Import,
  {
    /** Returns when everything is accepted. If it is interrupted after staging, any serving process continues the import. */
    readonly file: (
      sourceId: number,
      file: ReadableFile,
      options: ImportOptions,
      onProgress?: OnProgress,
    ) => Effect.Effect<ImportReport, FileError | StoreUnavailable>
  }
>()("@data-cabinet/core/file/Import") {
  static readonly layer = Layer.effect(
    Import,
    Effect.gen(function* () {
      const importer = new FileImporter({
        imports: yield* ImportStore,
        accept: yield* AcceptStaged,
        sources: yield* Sources,
        sheets: yield* SheetReader,
        archives: yield* ArchiveReader,
        columns: yield* SourceColumnStore,
      })
      return Import.of({
        file: (sourceId, file, options, onProgress = () => Effect.void) =>
          importer.run({ sourceId, file, options, onProgress }),
      })
    }),
  )
}

/** The JSON of the report, the same for the API and the command line. `preview` stays a list of JSON texts, so that no digit of a number is lost. */
export const importJson = (report: ImportReport) => ({
  state: report.state,
  import_id: report.importId,
  source_id: report.sourceId,
  file: report.file,
  bytes: report.bytes,
  format: report.format,
  encoding: report.encoding,
  delimiter: report.delimiter,
  header: report.header,
  header_row: report.headerRow,
  sheet: report.sheet,
  rows: report.rows,
  accepted: report.accepted,
  refused: report.refused,
  refusals: report.refusals,
  replaced: report.replaced,
  doubts: report.doubts,
  readings: report.readings,
  read_as: report.readAs,
  misfits: report.misfits,
  preview: report.preview,
  imported_before: report.importedBefore === null ? null : importShape.json(report.importedBefore),
  failure: report.failure,
})
