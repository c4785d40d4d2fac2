/** A file as the rules see it: bytes that can be read more than once. Where they are is an adapter's business. */
import type { Stream } from "effect"
import type { FileError } from "./FileError.ts"

export interface ReadableFile {
  /** As its owner calls it, without a folder. */
  readonly name: string
  readonly size: number
  /** The bytes from the beginning, each time it is run. */
  readonly bytes: Stream.Stream<Uint8Array, FileError>
}
