/** Request values from Node's requests, on a real server, and responses written back. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Context, Logger, References } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { nodeAdapter } from "../../src/server/NodeAdapter.ts"
import { type Response, type Handle, type Request, RequestGone } from "../../src/server/Request.ts"
import { RequestId } from "../../src/server/RequestId.ts"
import { stoppedResponse } from "../../src/tenancy/UnknownHost.ts"

const OK: Response = { status: 201, headers: { "x-kind": "plain", "content-type": "text/plain" }, body: "пять" }

let close = () => {}
afterEach(() => close())

/** A server that handles every request like this; `before` sees each response first. */
const serving = async (handle: Handle, before: (response: ServerResponse) => void = () => {}) => {
  const logged: Array<unknown> = []
  const logger = Logger.make(({ fiber }) => void logged.push(fiber.getRef(References.CurrentLogAnnotations)))
  const handler = { handle, stopped: stoppedResponse }
  const adapter = nodeAdapter(handler, Context.make(Logger.CurrentLoggers, new Set([logger])))
  const server = createServer((request, response) => {
    before(response)
    adapter(request, response)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  close = () => {
    server.close()
    server.closeAllConnections()
  }
  const post = (init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}/a`, { method: "POST", body: "x", ...init })
  return { logged, port, post }
}

const afterBody =
  (answer: Response): Handle =>
  async ({ body }) => {
    await body!.resume().toArray()
    return answer
  }

/** Sends these bytes on a connection; returns what is received until it closes or `until` matches. */
const heardOf = (port: number, bytes: string | Uint8Array, until: RegExp = /$^/) =>
  new Promise<string>((done) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(bytes))
    let heard = ""
    socket.on("error", () => {})
    socket.on("data", (chunk) => {
      heard += String(chunk)
      if (until.test(heard)) socket.destroy()
    })
    socket.once("close", () => done(heard))
  })

describe("a response", () => {
  it("is written with its length and the request's id", async () => {
    const { post } = await serving(afterBody(OK))
    const answer = await post({ headers: { "x-request-id": "from-here" } })
    const headers = ["x-kind", "x-request-id", "content-length", "content-type"].map((name) => answer.headers.get(name))
    assert.deepEqual([answer.status, ...headers], [201, "plain", "from-here", "8", "text/plain"])
    assert.equal(await answer.text(), "пять")
    assert.match((await post()).headers.get("x-request-id")!, /^[0-9a-f-]{36}$/)
  })

  it("has all bytes of its body, of any size", async () => {
    const bodies = [0, 1, 255, 8_191, 8_192, 8_193, 70_000].map((size) =>
      Uint8Array.from({ length: size }, (_, n) => n),
    )
    // Not at the beginning of its buffer.
    bodies.push(new Uint8Array(bodies[3]!.buffer, 100, 300))
    const { post } = await serving(async ({ headers }) => ({ ...OK, body: bodies[Number(headers["x-n"])]! }))
    for (const [n, body] of bodies.entries()) {
      const answer = await post({ headers: { "x-n": String(n) } })
      assert.equal(answer.headers.get("content-length"), String(body.length))
      assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), body)
    }
  })

  it("says when its bytes have left: not while its client still waits for them, nor if that has gone", async () => {
    // Longer than what the system takes from the server before a client reads it.
    for (const [size, reads] of [
      [64_000_000, true],
      [64_000_000, false],
      [1_000, true],
    ] as const) {
      let left = false
      const sent = Promise.withResolvers<void>()
      const closed = Promise.withResolvers<void>()
      const body = new Uint8Array(size)
      const response = { ...OK, body, sent: () => sent.resolve(void (left = true)) }
      const { port } = await serving(
        async () => response,
        (outgoing) => outgoing.once("close", closed.resolve),
      )
      const socket = connect(port, "127.0.0.1", () => void socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n"))
      await new Promise((done) => socket.once("data", done))
      if (size > 1_000) assert.isFalse(left)
      if (reads) {
        socket.resume()
        await sent.promise
      }
      socket.destroy()
      await closed.promise
      assert.equal(left, reads)
      close()
    }
  })

  it("never says so if the surrounding program sees its bytes: a cache keeps those that it was given", async () => {
    const body = new Uint8Array(10_000)
    const seeing: ReadonlyArray<(outgoing: ServerResponse) => void> = [
      (outgoing) => void (outgoing.end = outgoing.end.bind(outgoing) as ServerResponse["end"]),
      (outgoing) => void (outgoing.write = outgoing.write.bind(outgoing)),
    ]
    for (const see of seeing) {
      let left = false
      const closed = Promise.withResolvers<void>()
      const { post } = await serving(
        async () => ({ ...OK, body, sent: () => void (left = true) }),
        (outgoing) => see(outgoing.once("close", closed.resolve)),
      )
      assert.equal((await (await post()).arrayBuffer()).byteLength, 10_000)
      await closed.promise
      assert.isFalse(left)
      close()
    }
  })

  it("has no body if empty, for HEAD and for 304, and the length of any other body", async () => {
    const answers = [OK, { ...OK, status: 304 }, { ...OK, body: null }, { ...OK, body: new Uint8Array([104, 105]) }]
    const { post } = await serving(async ({ headers }) => answers[Number(headers["x-n"])]!)
    const told = async (method: string, n: number) => {
      const answer = await post({ method, body: null, headers: { "x-n": String(n) } })
      return [answer.status, answer.headers.get("content-length"), await answer.text()]
    }
    assert.deepEqual(await told("HEAD", 0), [201, "8", ""])
    assert.deepEqual(await told("GET", 1), [304, "8", ""])
    assert.deepEqual(await told("GET", 2), [201, null, ""])
    assert.deepEqual(await told("GET", 3), [201, "2", "hi"])
  })

  it("is not written if the host program has already responded, or the client has disconnected", async () => {
    const answered = await serving(afterBody(OK), (response) => response.writeHead(202).end("by the program"))
    const answer = await answered.post()
    assert.deepEqual([answer.status, await answer.text()], [202, "by the program"])
    close()
    const gone = Promise.withResolvers<void>()
    const deserted = await serving(async ({ body }) => {
      const { socket } = body as IncomingMessage
      const closed = new Promise<void>((done) => socket.once("close", () => done()))
      socket.destroy()
      await closed
      setImmediate(gone.resolve)
      return OK
    })
    assert.equal(await deserted.post().catch(() => "gone"), "gone")
    await gone.promise
    assert.deepEqual([answered.logged, deserted.logged], [[], []])
  })

  it("is a 500 with the request's id if the handler fails, or if it cannot be written", async () => {
    const unwritable: Response = { ...OK, headers: { "x-bad": "a\nb" } }
    for (const handle of [() => Promise.reject(new Error("SELECT secrets")), async () => unwritable]) {
      const { logged, post } = await serving(handle)
      const answer = await post({ headers: { "x-request-id": "at-fault" } })
      assert.deepEqual([answer.status, answer.headers.get("x-request-id")], [500, "at-fault"])
      const { error } = (await answer.json()) as { readonly error: { readonly message: string } }
      assert.notInclude(error.message, "SELECT")
      const [annotations] = logged as ReadonlyArray<Record<string, string>>
      assert.equal(annotations!["requestId"], "at-fault")
      assert.include(error.message, annotations!["correlationId"]!)
      close()
    }
  })

  it("is a 503 with a message if the work was aborted while its client is still connected", async () => {
    const { logged, post } = await serving(() => Promise.reject(new RequestGone()))
    const answer = await post()
    assert.deepEqual([answer.status, answer.headers.get("retry-after"), logged], [503, "1", []])
    assert.include(await answer.text(), "The server is stopping: try again.")
  })
})

/** A clock on which a response's minute is this many milliseconds. */
const minuteOf =
  (short: number) =>
  (response: ServerResponse): void => {
    const set = response.setTimeout.bind(response)
    response.setTimeout = (millis, late) => {
      assert.strictEqual(millis, 60_000)
      return set(short, late)
    }
  }

describe("a body in pieces", () => {
  const PIECE = Buffer.alloc(65_536, 7)

  it("is abandoned, with the work that produces it, if the client reads nothing of it for a minute", async () => {
    const ended = Promise.withResolvers<number>()
    const body = async function* () {
      let pieces = 0
      try {
        for (;;) yield (pieces++, PIECE)
      } finally {
        ended.resolve(pieces)
      }
    }
    const { port } = await serving(afterBody({ ...OK, body: body() }), minuteOf(300))
    const client = connect(port, "127.0.0.1")
    client.on("error", () => {})
    client.write("POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx")
    assert.isAbove(await ended.promise, 0)
    client.destroy()
  })

  it("arrives complete at a slow client, however slow", async () => {
    const body = async function* () {
      for (let piece = 0; piece < 200; piece++) yield PIECE
    }
    const { post } = await serving(afterBody({ ...OK, body: body() }), minuteOf(60_000))
    const answer = await post()
    assert.strictEqual((await answer.bytes()).length, 200 * PIECE.length)
  })
})

describe("a request", () => {
  it("reaches the handler as Node received it, with its id", async () => {
    const seen: Array<unknown> = []
    const { port, post } = await serving(async (request) => {
      const { method, url, host, headers, peer, id, context } = request
      seen.push([method, url, host, headers["x-a"], peer, id, Context.get(context, RequestId)])
      return OK
    })
    await post({ headers: { "x-request-id": "named", "x-a": "1" } })
    assert.deepEqual(seen, [["POST", "/a", `127.0.0.1:${port}`, "1", "127.0.0.1", "named", "named"]])
  })

  it("takes its host from its target, if that is an absolute URL", async () => {
    const seen: Array<unknown> = []
    const { port } = await serving(async ({ url, host }) => {
      seen.push([url, host])
      return OK
    })
    for (const target of ["http://one.test:81/a/b?c=%41", "HTTP://two.test", "*"]) {
      await heardOf(port, `OPTIONS ${target} HTTP/1.1\r\nhost: x.test\r\nconnection: close\r\n\r\n`)
    }
    assert.deepEqual(seen, [
      ["/a/b?c=%41", "one.test:81"],
      ["/", "two.test"],
      ["*", "x.test"],
    ])
  })

  it("notifies its listeners when its client disconnects before the response, not after it, and no former listener", async () => {
    const told: Array<string> = []
    const entered = Promise.withResolvers<Request>()
    const left = Promise.withResolvers<void>()
    const { port, post } = await serving(async (request) => {
      if (request.headers["x-stays"] !== undefined) {
        request.onGone(() => told.push("stays"))
        return OK
      }
      request.onGone(() => told.push("asked no longer"))()
      request.onGone(() => {
        told.push("gone")
        left.resolve()
      })
      entered.resolve(request)
      return new Promise<Response>(() => {})
    })
    assert.equal((await post({ headers: { "x-stays": "1", connection: "close" } })).status, 201)
    const socket = connect(port, "127.0.0.1")
    socket.write("GET /a HTTP/1.1\r\nhost: x\r\n\r\n")
    await entered.promise
    socket.destroy()
    await left.promise
    assert.deepEqual(told, ["gone"])
  })

  it("has as many listeners for the end of its client as it needs, without a warning of Node's", async () => {
    const warnings: Array<string> = []
    const heard = ({ message }: Error) => void warnings.push(message)
    process.on("warning", heard)
    const { post } = await serving(async (request) => {
      for (let n = 0; n < 20; n++) request.onGone(() => {})
      return OK
    })
    assert.equal((await post({ headers: { connection: "close" } })).status, 201)
    process.off("warning", heard)
    assert.deepEqual(warnings, [])
  })
})

describe("a body that is not read", () => {
  it("is discarded if it is small, and the connection stays open", async () => {
    const { port } = await serving(async () => OK)
    const heard = await heardOf(
      port,
      `POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 70000\r\n\r\n${"x".repeat(70_000)}GET /b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    )
    assert.equal(heard.match(/HTTP\/1\.1 201 /g)?.length, 2)
  })

  it("closes the connection if it is long, as the response says, which still arrives", async () => {
    const { port } = await serving(async () => OK)
    const heard = await heardOf(
      port,
      `POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n${"x".repeat(3_000_000)}`,
    )
    assert.match(heard, /^HTTP\/1\.1 201 [^]*connection: close[^]*пять$/i)
  })

  it("closes the connection if it is endless without a declared length", async () => {
    const { port } = await serving(async () => OK)
    const socket = connect(port, "127.0.0.1")
    const ended = new Promise<void>((done) => socket.once("close", () => done()))
    let heard = ""
    socket.on("error", () => {})
    socket.on("data", (chunk) => (heard += String(chunk)))
    socket.write("POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`
    const sending = setInterval(() => socket.write(chunk), 1)
    await ended
    clearInterval(sending)
    assert.match(heard, /^HTTP\/1\.1 201 [^]*пять$/)
  })
})
