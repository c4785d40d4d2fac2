/** Reads gzip archives, and zip archives of one file: as streams, so that their size costs no memory. */
import { FileError, fileError } from "@data-cabinet/core/file/FileError"
import { isZip } from "@data-cabinet/core/file/FileFormat"
import { type ReadableFile, ArchiveReader } from "@data-cabinet/core/file/ReadableFile"
import { Effect, Layer, Stream } from "effect"
import { SheetFault } from "../sheet/SheetFault.ts"
import { ArchiveFault } from "./ArchiveFault.ts"
import { inflate } from "./Inflate.ts"
import { limited } from "./UnpackLimit.ts"
import { entryName, entryPieces, onlyEntry, tailOf } from "./ZipFile.ts"

const HEAD_BYTES = 4

const failed = (what: string, cause: unknown): FileError => {
  if (cause instanceof FileError) return cause
  const code = cause instanceof ArchiveFault || cause instanceof SheetFault ? cause.code : "unreadable"
  const reason = cause instanceof Error ? cause.message : String(cause)
  return fileError(code, `The ${what} cannot be read: ${reason}.`)
}

const headOf = async (bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  let head = Buffer.alloc(0)
  for await (const piece of bytes) {
    head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES)])
    if (head.length >= HEAD_BYTES) break
  }
  return head
}

/** Its method is always Deflate, and its three reserved flags are never set. */
const isGzip = (head: Uint8Array): boolean =>
  head[0] === 0x1f && head[1] === 0x8b && head[2] === 8 && head[3] !== undefined && head[3] < 0x20

const isSignature = (head: Uint8Array, third: number): boolean =>
  head[0] === 0x50 && head[1] === 0x4b && head[2] === third && head[3] === third + 1

/** Each run of the stream begins at the start of the file. */
const streamed = (what: string, pieces: () => AsyncIterable<Uint8Array>): ReadableFile["bytes"] =>
  Stream.suspend(() => Stream.fromAsyncIterable(pieces(), (cause) => failed(what, cause)))

/** An import is found by its file's name: without one inside, it has the archive's. */
const nameInside = (inside: string, archive: string): string => (inside.trim() === "" ? archive : inside)

const gunzipped = (file: ReadableFile, maxBytes: number): ReadableFile => ({
  name: nameInside(file.name.replace(/\.gz(?:ip)?$/i, ""), file.name),
  size: file.size,
  bytes: streamed("gzip archive", () =>
    limited(inflate(Stream.toAsyncIterable(file.bytes), "gzip"), file.size, maxBytes),
  ),
})

const unzipped = (file: ReadableFile, maxBytes: number): Effect.Effect<ReadableFile, FileError> =>
  Effect.tryPromise({
    try: async () => onlyEntry(await tailOf(Stream.toAsyncIterable(file.bytes)), maxBytes),
    catch: (cause) => failed("zip archive", cause),
  }).pipe(
    Effect.map((entry) =>
      entry === null
        ? file
        : {
            name: nameInside(entryName(entry), file.name),
            size: file.size,
            bytes: streamed("zip archive", () => entryPieces(Stream.toAsyncIterable(file.bytes), entry, maxBytes)),
          },
    ),
  )

/** For a cabinet. */
export const layer = Layer.succeed(ArchiveReader, {
  open: Effect.fnUntraced(function* (file: ReadableFile, maxBytes: number) {
    const head = yield* Effect.tryPromise({
      try: () => headOf(Stream.toAsyncIterable(file.bytes)),
      catch: (cause) => failed("file", cause),
    })
    if (isGzip(head)) return gunzipped(file, maxBytes)
    if (isZip(head)) return yield* unzipped(file, maxBytes)
    if (isSignature(head, 5)) return yield* failed("zip archive", new ArchiveFault("it is empty"))
    if (isSignature(head, 7)) return yield* failed("zip archive", new ArchiveFault("it is one part of several"))
    return file
  }),
})
