/** A file that changes while it is read is refused with a message, at whatever point. */
import { appendFileSync, mkdtempSync, rmSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Effect, Result, Stream } from "effect"
import { afterEach, assert, beforeEach, it } from "vitest"

const BYTES = 300_000

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-cabinet-file-"))
  path = join(folder, "rows.csv")
  writeFileSync(path, "a,b\n".repeat(BYTES / 4))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Reads the whole file; runs `meanwhile` after the first piece. */
const read = (meanwhile: () => void) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const file = yield* fileOnDisk(path)
      let pieces = 0
      let bytes = 0
      yield* Stream.runForEach(file.bytes, (piece) =>
        Effect.sync(() => {
          if (pieces++ === 0) meanwhile()
          bytes += piece.byteLength
        }),
      )
      return bytes
    }).pipe(Effect.result),
  )

it("fileOnDisk returns the whole file each time it is read", async () => {
  assert.deepEqual(await read(() => {}), Result.succeed(BYTES))
})

it.each([
  ["is cut to nothing", () => truncateSync(path, 0), /300000 bytes, but only \d+ could be read/],
  ["is cut in its middle", () => truncateSync(path, 200_000), /300000 bytes, but only \d+ could be read/],
  ["grows", () => appendFileSync(path, "c,d\n"), /modified while being read/],
  ["is rewritten", () => (writeFileSync(path, "x".repeat(BYTES)), utimesSync(path, 1, 1)), /modified while being read/],
  ["is removed", () => unlinkSync(path), /there is no such file/],
] as const)("fileOnDisk refuses a file that %s while it is read", async (_, meanwhile, words) => {
  const failure = Result.getOrThrow(Result.flip(await read(meanwhile)))
  assert.deepInclude(failure, { _tag: "FileError", code: "unreadable" })
  assert.match(failure.message, words)
})
