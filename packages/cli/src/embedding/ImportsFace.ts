/** Files into the sources of a cabinet, with promises. */
import { basename } from "node:path"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import { Import, type ImportOptions, type ImportReport } from "@data-cabinet/core/file/Import"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import type { ImportStatus } from "@data-cabinet/core/file/StagedImports"
import { StagedImports } from "@data-cabinet/core/file/StagedImports"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Effect, Stream } from "effect"
import type { Run } from "./RunEffect.ts"

export type { ImportOptions, ImportReport, ImportStatus }

/** A path, or bytes with the name that says their format. They are read twice, so a stream has to be put down first. */
export type FileToImport = string | { readonly name: string; readonly bytes: Uint8Array }

export interface ImportsFace {
  /**
   * Every row an event, whole or not at all. Resolves when all are accepted; a report with the state `refused` names the
   * rows that stood in the way.
   */
  readonly file: (sourceId: number, file: FileToImport, options?: ImportOptions) => Promise<ImportReport>
  /** Newest first. */
  readonly list: (limit?: number) => Promise<ReadonlyArray<ImportStatus>>
}

const readable = (file: FileToImport): Effect.Effect<ReadableFile, FileError> => {
  if (typeof file === "string") return fileOnDisk(file)
  if (!(file.bytes instanceof Uint8Array)) return Effect.fail(fileError("bad_option", "bytes must be a Uint8Array."))
  return Effect.succeed({ name: basename(file.name), size: file.bytes.length, bytes: Stream.make(file.bytes) })
}

export const importsFace = (run: Run): ImportsFace => ({
  file: (sourceId, file, options = {}) =>
    run(Effect.flatMap(readable(file), (found) => Import.use((imports) => imports.file(sourceId, found, options)))),
  list: (limit = 100) => run(StagedImports.use((imports) => imports.list(limit))),
})
