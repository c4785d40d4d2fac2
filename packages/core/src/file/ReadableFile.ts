/**
 * A file as core sees it: bytes that can be read more than once. Where they are stored is up to an adapter.
 *
 * Decision: docs/decisions/0041-files-that-change-while-imported.md
 */
import type { Stream } from "effect"
import type { FileError } from "./FileError.ts"

export interface ReadableFile {
  /** The file's name as its owner gave it, without a folder. */
  readonly name: string
  readonly size: number
  /** The bytes from the beginning, each time the stream is run. */
  readonly bytes: Stream.Stream<Uint8Array, FileError>
}
