/**
 * Reads a file on this machine's disk for imports: in pieces, from its beginning, as often as needed. A file that
 * changes during a read is refused at the end of the read, because it is still being written or was cut off, and would
 * be imported in part.
 */
import { createReadStream, type Stats } from "node:fs"
import { type FileHandle, stat } from "node:fs/promises"
import { basename } from "node:path"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { Effect, Stream } from "effect"

const PIECE_BYTES = 65_536

const reasonOf = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "ENOENT") return "there is no such file"
  if (code === "EACCES") return "the current user has no permission to read it"
  return cause instanceof Error ? cause.message : String(cause)
}

/** The content of the file as opened, or an error that says how it has changed since. */
const pieces = async function* (path: string, found: Stats): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Uint8Array>) {
    read += piece.byteLength
    yield piece
  }
  const now = await stat(path)
  if (read < found.size) throw new Error(`it has ${found.size} bytes, but only ${read} could be read`)
  if (read !== found.size || now.size !== found.size || now.mtimeMs !== found.mtimeMs) {
    throw new Error("it was modified while being read; try again when it is complete")
  }
}

const unreadable = (path: string, cause: unknown) =>
  fileError("unreadable", `${path} cannot be read: ${reasonOf(cause)}.`)

const piecesOf = async function* (handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(PIECE_BYTES), 0, PIECE_BYTES, at)
    if (bytesRead === 0) throw new Error(`it has ${size} bytes, but only ${at} could be read`)
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** A file that this process holds open and that nobody else changes; readable until it is closed. */
export const openFile = (handle: FileHandle, name: string): Effect.Effect<ReadableFile, FileError> =>
  Effect.map(
    Effect.tryPromise({ try: () => handle.stat(), catch: (cause) => unreadable(name, cause) }),
    ({ size }): ReadableFile => ({
      name,
      size,
      bytes: Stream.fromAsyncIterable({ [Symbol.asyncIterator]: () => piecesOf(handle, size) }, (cause) =>
        unreadable(name, cause),
      ),
    }),
  )

export const fileOnDisk = (path: string): Effect.Effect<ReadableFile, FileError> =>
  Effect.gen(function* () {
    const found = yield* Effect.tryPromise({ try: () => stat(path), catch: (cause) => unreadable(path, cause) })
    if (!found.isFile()) return yield* fileError("unreadable", `${path} is not a file.`)
    return {
      name: basename(path),
      size: found.size,
      bytes: Stream.fromAsyncIterable({ [Symbol.asyncIterator]: () => pieces(path, found) }, (cause) =>
        unreadable(path, cause),
      ),
    }
  })
