/** File imports into the sources of a cabinet, with promises. */
import { basename } from "node:path"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import { Import, type ImportOptions, type ImportProgress, type ImportReport } from "@data-cabinet/core/file/Import"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import type { ImportStatus } from "@data-cabinet/core/file/ImportStore"
import { ImportStore } from "@data-cabinet/core/file/ImportStore"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Effect, Stream } from "effect"
import type { Run } from "./RunEffect.ts"

export type { ImportOptions, ImportProgress, ImportReport, ImportStatus }

/** A path, or bytes with a name that implies their format. They are read twice, so a stream must be saved first. */
export type FileToImport = string | { readonly name: string; readonly bytes: Uint8Array }

/** How a file is read, and who receives its progress. */
export interface FileImportOptions extends ImportOptions {
  /** Called with progress. An error it throws ends the import. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** Files: CSV, TSV, JSON, NDJSON, XLSX and ODS, every row an event with `history` set, never delivered. */
export interface ImportsApi {
  /**
   * Imports a file, whole or not at all. Resolves when all of it is accepted; a report with the state `refused` names the
   * rows at fault. Rejects with `same_file` for a file that was imported before.
   */
  readonly file: (sourceId: number, file: FileToImport, options?: FileImportOptions) => Promise<ImportReport>
  /** The imports of all sources, newest first; at most 100 unless another limit is given. */
  readonly list: (limit?: number) => Promise<ReadonlyArray<ImportStatus>>
}

const readable = (file: FileToImport): Effect.Effect<ReadableFile, FileError> => {
  if (typeof file === "string") return fileOnDisk(file)
  if (!(file.bytes instanceof Uint8Array)) return Effect.fail(fileError("bad_option", "bytes must be a Uint8Array."))
  return Effect.succeed({ name: basename(file.name), size: file.bytes.length, bytes: Stream.make(file.bytes) })
}

export const importsApi = (run: Run): ImportsApi => ({
  file: (sourceId, file, { onProgress, ...options } = {}) => {
    const tell = onProgress === undefined ? undefined : (at: ImportProgress) => Effect.sync(() => onProgress(at))
    return run(
      Effect.flatMap(readable(file), (found) => Import.use((imports) => imports.file(sourceId, found, options, tell))),
    )
  },
  list: (limit = 100) => run(ImportStore.use((imports) => imports.list(limit))),
})
