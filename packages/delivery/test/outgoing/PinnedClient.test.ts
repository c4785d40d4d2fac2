/** The streaming interface, which polling uses. */
import { type NameLookup, layer as names } from "@data-cabinet/delivery/outgoing/NameLookup"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { PinnedClient, layer as client } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { Effect, Fiber, Layer, ManagedRuntime, Stream } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { answering, onRequest, rawReceiver, type Receiver } from "./hostileReceivers.ts"

let runtime: ManagedRuntime.ManagedRuntime<PinnedClient | NameLookup, never>
const open: Array<Receiver> = []
beforeAll(() => {
  runtime = ManagedRuntime.make(
    client({ allowedNetworks: [parseNetwork("127.0.0.0/8")!] }).pipe(
      Layer.provideMerge(names({ hostsFile: "/dev/null" })),
    ),
  )
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((made) => made.close()))
})
afterAll(() => runtime.dispose())

const receiver = async (behave: Parameters<typeof rawReceiver>[0]) => {
  const made = await rawReceiver(behave)
  open.push(made)
  return new URL(`http://127.0.0.1:${made.port}/items?page=1`)
}

/** Not how long a response takes, but when it is missing. */
const PATIENCE_MILLIS = 120_000

interface Get {
  readonly maxBytes?: number
  readonly headers?: Record<string, string>
}

const get = (url: URL, options: Get = {}) =>
  runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const pinned = yield* PinnedClient
        const request = {
          method: "GET",
          url,
          headers: options.headers ?? {},
          deadlineMillis: PATIENCE_MILLIS,
          maxBytes: options.maxBytes ?? 1e9,
        } as const
        const answer = yield* pinned.open(request)
        const pieces = yield* Stream.runCollect(answer.body)
        return { status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) }
      }),
    ),
  )

it("open returns the head, and the body byte for byte", async () => {
  const body = Buffer.from(Array.from({ length: 5_000_000 }, (_, n) => (n * 7) % 256))
  const head = `HTTP/1.1 200 OK\r\nETag: "a"\r\nContent-Length: ${body.length}\r\n\r\n`
  const answer = await get(await receiver(answering(Buffer.concat([Buffer.from(head), body]))))
  expect(answer).toMatchObject({ status: 200, headers: { etag: `"a"` } })
  expect(answer.body.equals(body)).toBe(true)
})

it("open sends the caller's headers, and returns a 304 without a body", async () => {
  let seen = ""
  const url = await receiver(
    onRequest((socket, text) => {
      seen = text
      socket.write("HTTP/1.1 304 Not Modified\r\n\r\n")
    }),
  )
  expect(await get(url, { headers: { "If-None-Match": `"a"` } })).toMatchObject({ status: 304 })
  expect(seen).toContain("GET /items?page=1 HTTP/1.1")
  expect(seen).toMatch(/if-none-match: "a"/i)
})

it.each([
  [
    "a body longer than allowed",
    answering(`HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n${"x".repeat(200)}`),
    100,
    "longer than 100 bytes",
  ],
  [
    "a body that breaks off",
    onRequest((socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nabc")),
    1000,
    /closed|not HTTP/,
  ],
] as const)("open fails with a message for %s", async (_name, behave, maxBytes, words) => {
  const url = await receiver(behave)
  await expect(get(url, { maxBytes })).rejects.toMatchObject({
    _tag: "OutgoingError",
    message: expect.stringMatching(words),
  })
})

it.each([
  ["no head", "", "no response within 30 s"],
  [
    "a body that stands still",
    "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nabc",
    "the response stalled: nothing arrived for 30 s",
  ],
])("open fails with a message for %s", async (_name, sent, message) => {
  const begun = Promise.withResolvers<void>()
  const url = await receiver(
    onRequest((socket) => {
      socket.write(sent)
      if (sent === "") begun.resolve()
    }),
  )
  const request = { method: "GET", url, headers: {}, deadlineMillis: 30_000, maxBytes: 1000 } as const
  const waiting = Effect.gen(function* () {
    const { body } = yield* PinnedClient.use((pinned) => pinned.open(request))
    yield* Stream.runForEach(body, () => Effect.sync(begun.resolve))
  })
  const failing = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.flip(Effect.scoped(waiting)))
    yield* Effect.promise(() => begun.promise)
    for (; fiber.pollUnsafe() === undefined; yield* Effect.promise(() => new Promise(setImmediate)))
      yield* TestClock.adjust("30 seconds")
    return yield* Fiber.join(fiber)
  })
  expect(await runtime.runPromise(Effect.provide(failing, TestClock.layer()))).toMatchObject({
    code: "timeout",
    message,
  })
})

it("open applies backpressure while the body is not read, and closes with its scope", async () => {
  const made = await rawReceiver(
    onRequest((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        socket.once("drain", more)
      }
      more()
    }),
  )
  open.push(made)
  const url = new URL(`http://127.0.0.1:${made.port}/`)
  const taken = await runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const pinned = yield* PinnedClient
        const { body } = yield* pinned.open({
          method: "GET",
          url,
          headers: {},
          deadlineMillis: PATIENCE_MILLIS,
          maxBytes: 1e10,
        })
        return yield* body.pipe(
          Stream.tap(() => Effect.sleep(5)),
          Stream.take(20),
          Stream.runCollect,
        )
      }),
    ),
  )
  expect(taken).toHaveLength(20)
  expect(made.sent()).toBeLessThan(50_000_000)
})

it("check refuses what send would refuse", async () => {
  const check = (url: string) =>
    runtime.runPromise(Effect.flip(PinnedClient.use((pinned) => pinned.check(new URL(url)))))
  expect(await check("http://10.0.0.1/")).toMatchObject({ code: "not_public" })
  expect(await check("ftp://127.0.0.1/")).toMatchObject({ code: "bad_url" })
  expect(await check("http://a:b@127.0.0.1/")).toMatchObject({ code: "bad_url" })
})

it("open keeps no object for each byte of a body that arrives in single bytes", async () => {
  const bytes = 400_000
  const made = await rawReceiver(
    onRequest((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      socket.write("1\r\nx\r\n".repeat(bytes))
      socket.write("0\r\n\r\n")
    }),
  )
  open.push(made)
  const url = new URL(`http://127.0.0.1:${made.port}/`)
  const pieces = await runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const pinned = yield* PinnedClient
        const { body } = yield* pinned.open({
          method: "GET",
          url,
          headers: {},
          deadlineMillis: PATIENCE_MILLIS,
          maxBytes: bytes,
        })
        return yield* Stream.runCollect(body)
      }),
    ),
  )
  expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(bytes)
  // Each chunk has six bytes on the wire, and no read of a socket returns fewer than a hundred chunks.
  expect(pieces.length).toBeLessThan(bytes / 100)
})
