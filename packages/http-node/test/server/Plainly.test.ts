/** Requests that are taken without a fiber, on a real server of Node's: which are, and what is left to Effect's handler. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Context, Effect, Exit, References, Tracer } from "effect"
import { HttpServerResponse } from "effect/http"
import { afterEach, assert, it } from "vitest"
import type { Take } from "../../src/server/CabinetHttp.ts"
import { isWatched, plainly } from "../../src/server/Plainly.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

const OK = Effect.succeed(HttpServerResponse.text("пять", { status: 201, headers: { "x-kind": "plain" } }))

const NamedId = Context.Reference<string>("test/NamedId", { defaultValue: () => "" })

let close = () => {}
afterEach(() => close())

/** A server that takes everything with `take` once a body is read; `before` sees each response first. */
const serving = async (take: Take, before: (response: ServerResponse) => void = () => {}) => {
  const left: Array<readonly [string, Answer]> = []
  const taken = plainly({
    taking: ({ url }) => (url === "/taken" ? take : undefined),
    write: (one) => queueMicrotask(one),
    named: (id) => Context.make(NamedId, id),
    finish: (_, response, id, answer) => {
      left.push([id, answer])
      if (!response.headersSent) response.writeHead(299)
      response.end("left")
    },
  })
  const server = createServer((request, response) => {
    before(response)
    if (!taken(request, response)) response.writeHead(298).end("not taken")
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  close = () => {
    server.close()
    server.closeAllConnections()
  }
  const post = (init: RequestInit = {}, path = "/taken") =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "x", ...init })
  return { left, port, post }
}

const afterBody =
  (answer: Answer): Take =>
  ({ body }, answered) =>
    (body as IncomingMessage).resume().once("end", () => answered(answer))

it("writes an answer of text to a request that is whole, with its id", async () => {
  const { left, post } = await serving(afterBody(OK))
  const answer = await post({ headers: { "x-request-id": "from-here" } })
  assert.deepEqual(
    [
      answer.status,
      answer.headers.get("x-kind"),
      answer.headers.get("x-request-id"),
      answer.headers.get("content-length"),
    ],
    [201, "plain", "from-here", "8"],
  )
  assert.match(answer.headers.get("content-type")!, /^text\/plain/)
  assert.equal(await answer.text(), "пять")
  assert.match((await post()).headers.get("x-request-id")!, /^[0-9a-f-]{36}$/)
  assert.deepEqual(left, [])
})

it("tells of the request what stands in it, and its id by the context", async () => {
  const seen: Array<unknown> = []
  const { post } = await serving((received, answered, context) => {
    seen.push(received.method, received.url, received.headers["x-a"], received.peer, Context.get(context, NamedId))
    afterBody(OK)(received, answered, context)
  })
  await post({ headers: { "x-request-id": "named", "x-a": "1" } })
  assert.deepEqual(seen, ["POST", "/taken", "1", "127.0.0.1", "named"])
})

it("leaves to Effect's handler what is no whole text, what failed, and what answers a body that is not read", async () => {
  const later = Effect.delay(OK, "1 milli")
  const stream = Effect.succeed(HttpServerResponse.raw("raw"))
  const failed = Exit.die("a fault")
  for (const answer of [later, stream, failed]) {
    const { left, post } = await serving(afterBody(answer))
    assert.equal((await post({ headers: { "x-request-id": "same" } })).status, 299)
    assert.deepEqual(left, [["same", answer]])
    close()
  }
  const { left, port } = await serving((_, answered) => answered(OK))
  const socket = connect(port, "127.0.0.1")
  socket.write("POST /taken HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab")
  const head = await new Promise<string>((done) => socket.once("data", (bytes) => done(String(bytes))))
  socket.destroy()
  assert.match(head, /^HTTP\/1\.1 299 /)
  assert.equal(left.length, 1)
})

it("leaves a fault of ours to Effect's handler, before the answer and in writing it", async () => {
  const fault = new Error("a fault")
  const throwing = await serving(() => {
    throw fault
  })
  assert.equal((await throwing.post()).status, 299)
  assert.deepEqual(throwing.left[0]![1], Exit.die(fault))
  close()
  const unwritable = await serving(afterBody(OK), (response) => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = ((status: number) => {
      if (status === 201) throw fault
      return writeHead(status)
    }) as typeof response.writeHead
  })
  assert.equal((await unwritable.post()).status, 299)
  assert.deepEqual(unwritable.left[0]![1], Exit.die(fault))
})

it("writes nothing where the program around it has answered, or the sender has gone", async () => {
  const written = Promise.withResolvers<void>()
  const { left, post } = await serving(
    ({ body }, answered) =>
      (body as IncomingMessage).resume().once("end", () => {
        answered(OK)
        setImmediate(written.resolve)
      }),
    (response) => response.writeHead(202).end("by the program"),
  )
  const answer = await post()
  assert.deepEqual([answer.status, await answer.text()], [202, "by the program"])
  await written.promise
  assert.deepEqual(left, [])
  close()
  const gone = Promise.withResolvers<void>()
  const deserted = await serving(({ body }, answered) => {
    const request = body as IncomingMessage
    request.resume().once("end", () => request.socket.destroy())
    request.socket.once("close", () => {
      answered(OK)
      setImmediate(gone.resolve)
    })
  })
  assert.equal(await deserted.post().catch(() => "gone"), "gone")
  await gone.promise
  assert.deepEqual(deserted.left, [])
})

it("takes no other method, no address that takes a fiber, and nobody who waits for 100 Continue", async () => {
  const { post, port } = await serving(() => assert.fail("it was taken"))
  assert.equal((await post({ method: "PUT" })).status, 298)
  assert.equal((await post({}, "/other")).status, 298)
  const socket = connect(port, "127.0.0.1")
  socket.write("POST /taken HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\nab")
  let heard = ""
  await new Promise<void>((done) =>
    socket.on("data", (bytes) => {
      heard += String(bytes)
      if (heard.includes("not taken")) done()
    }),
  )
  socket.destroy()
  assert.match(heard, / 298 /)
})

it("isWatched where a trace or a line in the log is made of each request", () => {
  const quiet = Context.empty()
  const tracer = Tracer.make({ span: () => assert.fail("nothing is traced") })
  assert.isFalse(isWatched(quiet))
  assert.isTrue(isWatched(Context.add(quiet, Tracer.Tracer, tracer)))
  assert.isFalse(isWatched(Context.add(Context.make(Tracer.Tracer, tracer), References.TracerEnabled, false)))
  for (const level of ["Debug", "Trace", "All"] as const) {
    assert.isTrue(isWatched(Context.add(quiet, References.MinimumLogLevel, level)))
  }
  assert.isFalse(isWatched(Context.add(quiet, References.MinimumLogLevel, "Info")))
})
