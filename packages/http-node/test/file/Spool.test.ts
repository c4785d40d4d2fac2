import { execFileSync } from "node:child_process"
import { Readable } from "node:stream"
import { Effect, Stream } from "effect"
import { assert, it } from "vitest"
import { spool } from "../../src/file/Spool.ts"

const PIECE = Buffer.alloc(65_536, "a")

/** A form with a file of so many pieces, and how many of them were asked for. */
const formOf = (pieces: number) => {
  const asked = { pieces: 0 }
  const body = function* () {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n')
    while (asked.pieces < pieces) {
      asked.pieces++
      yield PIECE
    }
    yield Buffer.from("\r\n--b--\r\n")
  }
  const headers = { "content-type": "multipart/form-data; boundary=b" }
  return { asked, request: { headers, body: Readable.from(body()) } }
}

const LIMITS = { fileBytes: 1e9, idleMillis: 10_000 }

it("spool gives the file's bytes, as often as they are read", async () => {
  const { request } = formOf(50)
  const read = Effect.gen(function* () {
    const { file } = yield* spool(request, LIMITS)
    const once = Stream.runFold(
      file.bytes,
      () => 0,
      (sum, piece) => sum + piece.length,
    )
    return [file.name, file.size, yield* once, yield* once]
  })
  const bytes = 50 * PIECE.length
  assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(read)), ["x.csv", bytes, bytes, bytes])
})

it("spool fails immediately when the disk is full, and reads no more of the body", async () => {
  const { request, asked } = formOf(200)
  // The limit of a process stands for a full disk, which a test cannot make. Without a listener the signal would end us.
  const limit = (bytes: string) => execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`])
  const ignored = () => {}
  process.on("SIGXFSZ", ignored)
  limit("20000")
  try {
    const failure = await Effect.runPromise(Effect.flip(Effect.scoped(spool(request, LIMITS))))
    assert.deepInclude(failure, { code: "interrupted" })
    assert.match(failure.message, /^The file cannot be stored on the server's disk: EFBIG/)
    assert.isBelow(asked.pieces, 20)
  } finally {
    limit("unlimited")
    process.off("SIGXFSZ", ignored)
  }
})
