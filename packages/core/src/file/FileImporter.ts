/**
 * Imports one file, from inspection to the acceptance of its rows. Any failure while it is read ends its import as
 * failed. Once it is staged completely, it is accepted, here or by another process.
 */
import { Effect, Option, type Scope, Stream } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { isEmptyPayload } from "../event/Payload.ts"
import { jsonText } from "../json/JsonText.ts"
import type { SourceColumnStore } from "../row/SourceColumnStore.ts"
import { instrument } from "../runtime/Instrument.ts"
import type { Sources } from "../source/Sources.ts"
import type { AcceptStaged } from "./AcceptStaged.ts"
import { doubtOf } from "./Doubt.ts"
import { type FileError, fileError, noSuchImport, lostWhileRead, sameFile } from "./FileError.ts"
import { FileNotation, hasNotation, notationRefusal } from "./FileNotation.ts"
import { isWorkbook } from "./FileFormat.ts"
import { identified } from "./FileIdentity.ts"
import { type FileInspection, inspectFile, MAX_FILE_BYTES } from "./FileInspection.ts"
import { type FileReading, inspected, NOTHING_ACCEPTED, NOTHING_SURVEYED, UNCLEAR } from "./FileReading.ts"
import type { Refusal } from "./FileItem.ts"
import type { ImportOptions, ImportReport, OnProgress } from "./Import.ts"
import { turns } from "./Pieces.ts"
import type { ReadableFile, ArchiveReading } from "./ReadableFile.ts"
import { readItems } from "./ReadItems.ts"
import { SheetReader } from "./SheetReader.ts"
import { type NewRow, stageBatches } from "./StageBatches.ts"
import type { HeldImport, ImportStore } from "./ImportStore.ts"

const MAX_REFUSALS = 100
const PREVIEW_ROWS = 5
const WAIT_MILLIS = 250

interface Ports {
  readonly imports: ImportStore["Service"]
  readonly accept: AcceptStaged["Service"]
  readonly sources: Sources["Service"]
  readonly sheets: SheetReader["Service"]
  readonly archives: ArchiveReading
  readonly columns: SourceColumnStore["Service"]
}

/** One call to import a file. */
interface FileImport {
  readonly sourceId: number
  /** The name of the import: the archive's, not that of the file inside. */
  readonly name: string
  readonly file: ReadableFile
  readonly options: ImportOptions
  readonly onProgress: OnProgress
  /** Set once the fields that follow a notation are known. */
  readonly notation?: FileNotation
}

/** What to do with the valid rows of a file. */
type Keep<E> = (rows: ReadonlyArray<NewRow>) => Effect.Effect<void, E>

/** The cost of a cell, in characters, in addition to its text. */
const CELL_COST = 50

export class FileImporter {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  run(request: Omit<FileImport, "name">): Effect.Effect<ImportReport, FileError | StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { sourceId, options, onProgress } = request
      const { name } = request.file
      const refused = notationRefusal(options)
      if (refused !== undefined) return yield* fileError("bad_option", refused)
      if (Option.isNone(yield* this.#ports.sources.forIntake(sourceId))) {
        return yield* fileError("no_such_source", `There is no source ${sourceId}, or it is switched off.`)
      }
      yield* onProgress({ phase: "looking", done: 0, total: request.file.size })
      const file = yield* this.#ports.archives.open(request.file, MAX_FILE_BYTES)
      const given = { ...request, name, file }
      const look = yield* identified(this.#ports.sheets, file, yield* inspectFile(file, options))
      const importedBefore = Option.getOrNull(yield* this.#ports.imports.same(sourceId, look.sha256))
      const named = { sourceId, file: name, ...inspected(look), importedBefore }
      const readings = look.csv?.readings ?? []
      if (readings.length > 0) return { ...named, ...UNCLEAR, readings }
      const { call, surveyed } = yield* this.#survey(given, look)
      const about = { ...named, ...surveyed }
      if (options.dryRun === true) {
        const reading = yield* Effect.scoped(this.#read(call, look, () => Effect.void))
        return { ...about, ...reading, ...NOTHING_ACCEPTED, state: "dry_run" }
      }
      const { held, reading, isSealed } = yield* this.#stage(call, look)
      if (!isSealed) return { ...about, ...reading, ...NOTHING_ACCEPTED, state: "refused" }
      const { state, accepted, failure } = yield* this.#acceptAll(held.id, sourceId, (done) =>
        onProgress({ phase: "accepting", done, total: reading.rows }),
      )
      const reported = state === "staging" ? "accepting" : state
      return { ...about, ...reading, state: reported, importId: held.id, accepted, failure }
    })
  }

  /** Reads a file with a notation once more in advance, to see which of its fields follow the notation. */
  #survey(call: FileImport, look: FileInspection) {
    return Effect.gen({ self: this }, function* () {
      const { sourceId, file, options } = call
      if (!hasNotation(options)) return { call, surveyed: NOTHING_SURVEYED }
      const table = yield* this.#ports.columns.list(sourceId)
      const columns = Option.match(table, { onNone: () => [], onSome: ({ columns: all }) => [...all] })
      // These values go into the field's first column.
      const kinds = new Map(columns.toReversed().map(({ field, type }) => [field, type] as const))
      const notation = new FileNotation(options, kinds)
      const survey = Effect.gen({ self: this }, function* () {
        const items = readItems(file, look, options.header)
        const reading = yield* Effect.provideService(items, SheetReader, this.#ports.sheets)
        const turn = turns()
        yield* Stream.runForEach(
          reading.batches,
          Effect.fnUntraced(function* ({ items: rows }) {
            for (const { line, payload } of rows) {
              notation.see(line, payload)
              yield* turn(payload.size * CELL_COST)
            }
          }),
        )
      })
      yield* Effect.scoped(survey)
      return { call: { ...call, notation }, surveyed: notation.decide() }
    })
  }

  /** Reads the whole file and passes the valid rows to `keep`. */
  #read<E>(
    call: FileImport,
    look: FileInspection,
    keep: Keep<E>,
  ): Effect.Effect<FileReading, E | FileError, Scope.Scope> {
    const { file, options, onProgress, notation } = call
    const read = Effect.gen({ self: this }, function* () {
      const items = readItems(file, look, options.header)
      const reading = yield* Effect.provideService(items, SheetReader, this.#ports.sheets)
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
          for (const item of batch.items) {
            const payload = notation === undefined ? item.payload : notation.read(item.payload)
            const text = jsonText(payload)
            rows.push({ payload: text, empty: isEmptyPayload(payload) })
            yield* turn(text.length)
          }
          for (const row of rows) if (preview.length < PREVIEW_ROWS) preview.push(row.payload)
          seen.rows += rows.length
          if (seen.refused === 0 || options.skipRefused === true) yield* keep(rows)
          const total = isWorkbook(look.format) ? null : look.bytes
          yield* onProgress({ phase: "staging", done: batch.read, total })
        }),
      )
      const { sheet, header } = reading
      return {
        ...seen,
        refusals,
        preview,
        sheet,
        header,
        headerRow: reading.headerRow(),
        doubts: [
          ...(header === true && seen.rows + seen.refused === 0 ? [doubtOf("no_rows", [], 1)] : []),
          ...reading.doubts(),
        ],
      }
    })
    return instrument("import.stage", read)
  }

  /** Begins an import and stages the file; the import fails if rows are refused or the file cannot be read to its end. */
  #stage(call: FileImport, look: FileInspection) {
    return Effect.gen({ self: this }, function* () {
      const { imports } = this.#ports
      const began = yield* imports.begin({
        sourceId: call.sourceId,
        channel: "file",
        history: true,
        name: call.name,
        sha256: look.sha256,
        bytes: look.bytes,
        once: call.options.again !== true,
        pollId: null,
      })
      if ("same" in began) return yield* sameFile(began.same)
      const { held } = began
      return yield* Effect.scoped(this.#stageInto(held, call, look)).pipe(
        Effect.onExit((exit) =>
          exit._tag === "Failure" ? Effect.ignore(imports.fail(held, "it was not read to the end")) : Effect.void,
        ),
        Effect.catchTag("LeaseLost", () => Effect.flatMap(imports.status(held.id), lostWhileRead)),
      )
    })
  }

  #stageInto(held: HeldImport, call: FileImport, look: FileInspection) {
    return Effect.gen({ self: this }, function* () {
      const { imports } = this.#ports
      const staging = stageBatches(imports, held)
      const reading = yield* this.#read(call, look, staging.add)
      if (reading.refused > 0 && call.options.skipRefused !== true) {
        yield* imports.fail(held, `${reading.refused} rows were refused`)
        return { held, reading, isSealed: false }
      }
      yield* staging.flush
      yield* imports.seal(held, { staged: reading.rows, refused: reading.refused, doubts: reading.doubts })
      return { held, reading, isSealed: true }
    })
  }

  /**
   * Accepts the import here, and before it any unfinished import of a lost process into the same source; waits for imports
   * that other processes hold. While the source is switched off neither can be accepted, and the call returns instead of
   * waiting.
   */
  #acceptAll(id: number, sourceId: number, onAccepted: (accepted: number) => Effect.Effect<void>) {
    return Effect.gen({ self: this }, function* () {
      const { imports, accept, sources } = this.#ports
      while (true) {
        const claimed = yield* imports.claim(id)
        if (Option.isSome(claimed)) {
          yield* accept.run(claimed.value, claimed.value.id === id ? onAccepted : undefined).pipe(
            Effect.onInterrupt(() => Effect.ignore(imports.release(claimed.value, null))),
            Effect.catchTag("LeaseLost", () => Effect.void),
          )
        }
        const status = yield* imports.status(id)
        if (Option.isNone(status)) return yield* noSuchImport(id)
        if (status.value.state !== "accepting" || status.value.failure !== null) return status.value
        if (Option.isNone(yield* sources.forIntake(sourceId))) {
          return { ...status.value, failure: "the source is switched off" }
        }
        yield* onAccepted(status.value.accepted)
        yield* Effect.sleep(WAIT_MILLIS)
      }
    })
  }
}
