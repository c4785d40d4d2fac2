import { execFileSync } from "node:child_process"
import { Readable } from "node:stream"
import { Clock, Effect, Stream } from "effect"
import { assert, it } from "vitest"
import { spool } from "../../src/file/Spool.ts"

const PIECE = Buffer.alloc(65_536, "a")

/** A form with a file of this many pieces, and how many of them were read. */
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

const LIMITS = { fileBytes: 1e9, idleMillis: 10_000, leastBytes: 1000 }

it("spool returns the file's bytes each time they are read", async () => {
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
  // The process's file size limit simulates a full disk, which a test cannot create. Without a listener the signal
  // would end the process.
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

/** A form whose pieces arrive at this pace, by a clock that advances with them. */
const paced = (piece: Uint8Array, everyMillis: number, pieces: number) => {
  let now = 0
  const asked = { pieces: 0 }
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    sleep: () => Effect.never,
  }
  const body = async function* () {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n')
    while (asked.pieces < pieces) {
      asked.pieces++
      now += everyMillis
      yield piece
    }
    yield Buffer.from("\r\n--b--\r\n")
  }
  const request = {
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: { readableEnded: false, iterator: body } as unknown as Readable,
  }
  const taken = spool(request, LIMITS).pipe(
    Effect.map(({ file }) => file.size),
    Effect.scoped,
    Effect.provideService(Clock.Clock, clock),
  )
  return { asked, taken }
}

it("spool ends an upload that keeps sending bytes but makes no progress", async () => {
  const { asked, taken } = paced(Buffer.from("a"), 100, 1e6)
  const failure = await Effect.runPromise(Effect.flip(taken))
  assert.deepInclude(failure, { code: "unreadable", message: "The upload was interrupted: it is too slow." })
  assert.strictEqual(asked.pieces, 100)
})

it("spool accepts an upload of any length if it is not too slow", async () => {
  const { taken } = paced(Buffer.alloc(100, "a"), 900, 4_000)
  assert.strictEqual(await Effect.runPromise(taken), 400_000)
})
