/** File imports into the sources of a cabinet, with promises. */
import { basename } from "node:path"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import { Import, type ImportOptions, type ImportProgress, type ImportReport } from "@data-cabinet/core/file/Import"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import type { ImportStatus } from "@data-cabinet/core/file/ImportStore"
import { Imports, type UndoPreview } from "@data-cabinet/core/file/Imports"
import { undoWhole } from "@data-cabinet/core/file/ContinueUndo"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Effect, Stream } from "effect"
import type { Run } from "./RunEffect.ts"

export type { ImportOptions, ImportProgress, ImportReport, ImportStatus, UndoPreview }

/** A path, or bytes with a name that implies their format. They are read twice, so a stream must be saved first. */
export type FileToImport = string | { readonly name: string; readonly bytes: Uint8Array }

/** How to read a file, and where to report progress. */
export interface FileImportOptions extends ImportOptions {
  /** Called with the progress. If it throws, the import ends. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** Imports of CSV, TSV, JSON, NDJSON, XLSX, ODS and HTML files. Each row is an event with `history` set, never delivered. */
export interface ImportsApi {
  /**
   * Imports a file, whole or not at all. Resolves when all of it is accepted, or with a report in the state `refused` that
   * names the faulty rows. Rejects with `same_file` for a file that was imported before.
   */
  readonly file: (sourceId: number, file: FileToImport, options?: FileImportOptions) => Promise<ImportReport>
  /** The imports of all sources, newest first; at most 100 unless another limit is given. */
  readonly list: (limit?: number) => Promise<ReadonlyArray<ImportStatus>>
  /** One import. Rejects with `no_such_import`. */
  readonly get: (id: number) => Promise<ImportStatus>
  /**
   * Ends an import as failed, whichever process runs it; rows that are events by then stay. Rejects with `import_done` if all
   * rows are accepted.
   */
  readonly cancel: (id: number) => Promise<ImportStatus>
  /** How many events, rows and columns `undo` would remove; nothing is changed. */
  readonly tryUndo: (id: number) => Promise<UndoPreview>
  /**
   * Moves the events of an import to the trash with their rows, and drops the columns that only it filled. Resolves when all
   * of it is undone. An interrupted undo continues in any process that serves the cabinet, or with the next call. Rejects
   * with `import_running` until the import has ended.
   */
  readonly undo: (id: number) => Promise<ImportStatus>
}

const readable = (file: FileToImport): Effect.Effect<ReadableFile, FileError> => {
  if (typeof file === "string") return fileOnDisk(file)
  if (!(file.bytes instanceof Uint8Array)) return Effect.fail(fileError("bad_option", "bytes must be a Uint8Array."))
  return Effect.succeed({ name: basename(file.name), size: file.bytes.length, bytes: Stream.make(file.bytes) })
}

/** Builds the methods of `cabinet.imports`. */
export const importsApi = (run: Run): ImportsApi => ({
  file: (sourceId, file, { onProgress, ...options } = {}) => {
    const tell = onProgress === undefined ? undefined : (at: ImportProgress) => Effect.sync(() => onProgress(at))
    return run(
      Effect.flatMap(readable(file), (found) => Import.use((imports) => imports.file(sourceId, found, options, tell))),
    )
  },
  list: (limit = 100) => run(Imports.use((imports) => imports.list(limit))),
  get: (id) => run(Imports.use((imports) => imports.get(id))),
  cancel: (id) => run(Imports.use((imports) => imports.cancel(id))),
  tryUndo: (id) => run(Imports.use((imports) => imports.tryUndo(id))),
  undo: (id) => run(undoWhole(id)),
})
