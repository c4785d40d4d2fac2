/**
 * Opens a compressed file, so that the file inside is read in its place. An archive can be crafted to unpack to any size, so
 * an implementation limits that, and fails with `too_large` or `unreadable`. Without one, archives are refused by name.
 */
import { Context, Effect } from "effect"
import type { FileError } from "./FileError.ts"
import type { ReadableFile } from "./ReadableFile.ts"

/** Opens archives for imports and polls. */
export interface ArchiveReading {
  /**
   * Returns the one file inside, unpacked as it is read: damage fails its stream, at a position. Any other file, and any
   * workbook, is returned unchanged. `maxBytes`: the most that may be unpacked.
   */
  readonly open: (file: ReadableFile, maxBytes: number) => Effect.Effect<ReadableFile, FileError>
}

export const ArchiveReader = Context.Reference<ArchiveReading>("@data-cabinet/core/file/ArchiveReader", {
  defaultValue: () => ({ open: Effect.succeed }),
})
