/**
 * A file as core sees it: bytes that can be read more than once. Where they are stored is up to an adapter.
 *
 * Decision: docs/decisions/0041-files-that-change-while-imported.md
 */
import { type Stream, Context, Effect } from "effect"
import type { FileError } from "./FileError.ts"

export interface ReadableFile {
  /** The file's name as its owner gave it, without a folder. */
  readonly name: string
  readonly size: number
  /** The bytes from the beginning, each time the stream is run. */
  readonly bytes: Stream.Stream<Uint8Array, FileError>
}

/** Opens archives for imports and polls. */
export interface ArchiveReading {
  /**
   * Returns the one file inside, unpacked as it is read: damage fails its stream, at a position. Any other file, and any
   * workbook, is returned unchanged. `maxBytes`: the most that may be unpacked.
   */
  readonly open: (file: ReadableFile, maxBytes: number) => Effect.Effect<ReadableFile, FileError>
}

/**
 * Opens a compressed file, so that the file inside is read in its place. An archive can be crafted to unpack to any size, so
 * an implementation limits that, and fails with `too_large` or `unreadable`. Without one, archives are refused by name.
 */
export const ArchiveReader = Context.Reference<ArchiveReading>("@data-cabinet/core/file/ArchiveReader", {
  defaultValue: () => ({ open: Effect.succeed }),
})
