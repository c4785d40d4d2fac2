/**
 * Imports a file into a source: it is inspected, read and staged completely, then accepted in slices. If one row cannot
 * become an event, nothing of the file is accepted, unless the caller requests otherwise; refused rows are reported by line
 * and column.
 */
import { Context, Effect, Layer, Option, type Scope, Stream } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { jsonText } from "../json/JsonText.ts"
import { isEmptyPayload } from "../event/Payload.ts"
import { Sources } from "../source/Sources.ts"
import { AcceptStaged } from "./AcceptStaged.ts"
import { type FileError, fileError } from "./FileError.ts"
import type { FileFormat } from "./FileFormat.ts"
import type { Refusal } from "./FileItem.ts"
import { type FileInspection, type FileOptions, inspectFile } from "./FileInspection.ts"
import { turns } from "./Pieces.ts"
import type { ReadableFile } from "./ReadableFile.ts"
import { readItems } from "./ReadItems.ts"
import { SheetReader } from "./SheetReader.ts"
import { type ImportStatus, StagedImports } from "./StagedImports.ts"
import { type NewRow, stageBatches } from "./StageBatches.ts"

/** How a file is imported. */
export interface ImportOptions extends FileOptions {
  /** Reads and reports, and stores nothing. */
  readonly dryRun?: boolean | undefined
  /** Imports a file again that was imported before. */
  readonly again?: boolean | undefined
  /** Accepts the valid rows and skips the others. */
  readonly skipRefused?: boolean | undefined
}

/** `refused`: rows were refused, so nothing was accepted. `accepting`: staged, and accepted in the background. */
export interface ImportReport {
  readonly state: "done" | "accepting" | "refused" | "dry_run" | "failed"
  readonly importId: number | null
  readonly sourceId: number
  readonly file: string
  readonly bytes: number
  readonly format: FileFormat
  /** Null for a spreadsheet, which declares its own encoding. */
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly header: boolean | null
  readonly sheet: string | null
  /** The rows that become, or would become, events; and how many of them are events by now. */
  readonly rows: number
  readonly accepted: number
  readonly refused: number
  /** The first of the refused rows. */
  readonly refusals: ReadonlyArray<Refusal>
  /** How many characters could not be decoded and became U+FFFD. */
  readonly replaced: number
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

type OnProgress = (progress: ImportProgress) => Effect.Effect<void>

const MAX_REFUSALS = 100
const PREVIEW_ROWS = 5
const WAIT_MILLIS = 250

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
      const imports = yield* StagedImports
      const accept = yield* AcceptStaged
      const sources = yield* Sources
      const sheets = yield* SheetReader

      /** Reads the whole file and passes the valid rows to `keep`. */
      const readAll = Effect.fnUntraced(function* <E>(
        file: ReadableFile,
        look: FileInspection,
        options: ImportOptions,
        tell: OnProgress,
        keep: (
          payloads: ReadonlyArray<{ readonly payload: string; readonly empty: boolean }>,
        ) => Effect.Effect<void, E>,
      ): Effect.fn.Return<Reading, E | FileError, Scope.Scope> {
        const reading = yield* Effect.provideService(readItems(file, look, options.header), SheetReader, sheets)
        const seen = { rows: 0, refused: 0, replaced: 0 }
        const refusals: Array<Refusal> = []
        const preview: Array<string> = []
        const turn = turns()
        yield* Stream.runForEach(
          reading.batches,
          Effect.fnUntraced(function* (batch) {
            seen.refused += batch.refusals.length
            seen.replaced = batch.replaced
            for (const refusal of batch.refusals) if (refusals.length < MAX_REFUSALS) refusals.push(refusal)
            const rows: Array<NewRow> = []
            for (const { payload } of batch.items) {
              const text = jsonText(payload)
              rows.push({ payload: text, empty: isEmptyPayload(payload) })
              yield* turn(text.length)
            }
            for (const row of rows) if (preview.length < PREVIEW_ROWS) preview.push(row.payload)
            seen.rows += rows.length
            if (seen.refused === 0 || options.skipRefused === true) yield* keep(rows)
            const total = look.format === "xlsx" ? null : look.bytes
            yield* tell({ phase: "staging", done: batch.read, total })
          }),
        )
        return { ...seen, refusals, preview, sheet: reading.sheet, header: reading.header }
      })

      const read: typeof readAll = (...call) => instrument("import.stage", readAll(...call))

      /**
       * Accepts the import here, and before it any unfinished import of a lost process into the same source; waits for
       * imports that other processes hold. While the source is switched off neither can be accepted, and the call returns
       * instead of waiting.
       */
      const acceptAll = Effect.fnUntraced(function* (
        id: number,
        sourceId: number,
        tell: (accepted: number) => Effect.Effect<void>,
      ) {
        while (true) {
          const claimed = yield* imports.claim(id)
          if (Option.isSome(claimed)) {
            const told = claimed.value.id === id ? tell : undefined
            yield* accept.run(claimed.value, told).pipe(
              Effect.onInterrupt(() => Effect.ignore(imports.release(claimed.value, null))),
              Effect.catchTag("LeaseLost", () => Effect.void),
            )
          }
          const status = yield* imports.status(id)
          if (Option.isNone(status)) return yield* fileError("no_such_import", `There is no import ${id}.`)
          if (status.value.state !== "accepting" || status.value.failure !== null) return status.value
          if (Option.isNone(yield* sources.forIntake(sourceId))) {
            return { ...status.value, failure: "the source is switched off" }
          }
          yield* tell(status.value.accepted)
          yield* Effect.sleep(WAIT_MILLIS)
        }
      })

      return Import.of({
        file: Effect.fnUntraced(function* (sourceId, file, options, onProgress) {
          const tell: OnProgress = onProgress ?? (() => Effect.void)
          if (Option.isNone(yield* sources.forIntake(sourceId))) {
            return yield* fileError("no_such_source", `There is no source ${sourceId} that is switched on.`)
          }
          yield* tell({ phase: "looking", done: 0, total: file.size })
          const look = yield* inspectFile(file, options)
          const before = Option.getOrNull(yield* imports.same(sourceId, look.sha256))
          const about = {
            sourceId,
            file: file.name,
            bytes: look.bytes,
            format: look.format,
            encoding: look.charset?.name ?? null,
            delimiter: look.csv?.delimiter ?? null,
            importedBefore: before,
          }
          const told = ({ rows, refused, refusals, replaced, preview, sheet, header }: Reading) => ({
            ...about,
            rows,
            refused,
            refusals,
            replaced,
            preview,
            sheet,
            header,
          })
          const nothing = { importId: null, accepted: 0, failure: null }
          if (options.dryRun === true) {
            const seen = yield* Effect.scoped(read(file, look, options, tell, () => Effect.void))
            return { ...told(seen), ...nothing, state: "dry_run" as const }
          }
          const began = yield* imports.begin({
            sourceId,
            channel: "file",
            history: true,
            name: file.name,
            sha256: look.sha256,
            bytes: look.bytes,
            once: options.again !== true,
            pollId: null,
          })
          if ("same" in began) return yield* sameFile(began.same)
          const { held } = began
          const stageAll = Effect.gen(function* () {
            const staging = stageBatches(imports, held)
            const seen = yield* read(file, look, options, tell, staging.add)
            if (seen.refused > 0 && options.skipRefused !== true) {
              yield* imports.fail(held, `${seen.refused} rows were refused`)
              return { seen, sealed: false }
            }
            yield* staging.flush
            yield* imports.seal(held, { staged: seen.rows, refused: seen.refused })
            return { seen, sealed: true }
          })
          const { seen, sealed } = yield* Effect.scoped(stageAll).pipe(
            Effect.onExit((exit) =>
              exit._tag === "Failure" ? Effect.ignore(imports.fail(held, "it was not read to its end")) : Effect.void,
            ),
            Effect.catchTag("LeaseLost", () =>
              fileError(
                "interrupted",
                "Reading took so long that the import was given up. Nothing was taken; try again.",
              ),
            ),
          )
          if (!sealed) return { ...told(seen), ...nothing, state: "refused" as const }
          const status = yield* acceptAll(held.id, sourceId, (done) =>
            tell({ phase: "accepting", done, total: seen.rows }),
          )
          return {
            ...told(seen),
            state: status.state === "staging" ? ("accepting" as const) : status.state,
            importId: held.id,
            accepted: status.accepted,
            failure: status.failure,
          }
        }),
      })
    }),
  )
}

interface Reading {
  readonly rows: number
  readonly refused: number
  readonly replaced: number
  readonly refusals: ReadonlyArray<Refusal>
  readonly preview: ReadonlyArray<string>
  readonly sheet: string | null
  readonly header: boolean | null
}

const sameFile = (same: ImportStatus) =>
  fileError(
    "same_file",
    same.state === "done"
      ? `This file was imported into this source before: import ${same.id} of ${same.createdAt}, ${same.accepted} rows. Say --again to import it once more.`
      : `This file is being imported into this source: import ${same.id}, ${same.accepted} of ${same.staged} rows accepted.`,
  )
