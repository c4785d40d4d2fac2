import { afterEach, assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { connect } from "node:net"
import type { Socket } from "node:net"
import { Deferred, Effect } from "effect"
import { intakeServer, SECRET } from "./intakeServer.ts"
import type { IntakeServer } from "./intakeServer.ts"

let server: IntakeServer
afterEach(() => server.close())

const MIB = 1_048_576

/** A connection on which the test speaks HTTP itself. */
const open = async (): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> => {
  const socket = connect(server.port, "127.0.0.1")
  socket.on("error", () => {})
  let text = ""
  socket.on("data", (chunk) => (text += chunk.toString()))
  const answer = once(socket, "close").then(() => text)
  await once(socket, "connect")
  return { socket, answer }
}

const head = (...lines: ReadonlyArray<string>) =>
  [`POST /webhook/${SECRET} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...lines, "", ""].join("\r\n")

describe("size", () => {
  it("is refused by Content-Length before a byte is sent", async () => {
    server = await intakeServer()
    const { socket, answer } = await open()
    socket.write(head(`Content-Length: ${MIB + 1}`))
    assert.match(await answer, /^HTTP\/1\.1 413 [^]*connection: close[^]*"error":"too_large"[^]*"limit":1048576/i)
    assert.deepStrictEqual(server.state.appended, [])
  })

  it("is counted while it is read if its length is unknown, and the response still arrives", async () => {
    server = await intakeServer()
    const sending = request(server.url, { method: "POST", headers: { "content-type": "application/json" } })
    sending.on("error", () => {})
    const answered = once(sending, "response") as Promise<[IncomingMessage]>
    for (let sent = 0; sent < 1.5 * MIB; sent += 65_536) sending.write(Buffer.alloc(65_536, 32))
    const [response] = await answered
    assert.strictEqual(response.statusCode, 413)
    assert.include(Buffer.concat(await response.toArray()).toString(), '"error":"too_large"')
    sending.destroy()
    assert.deepStrictEqual(server.state.appended, [])
  })

  it("gets a response even when the sender reads only after sending everything", async () => {
    server = await intakeServer()
    const { socket, answer } = await open()
    socket.pause()
    socket.write(head(`Content-Length: ${2 * MIB}`))
    socket.write(Buffer.alloc(2 * MIB, 32), () => {})
    socket.resume()
    assert.match(await answer, /^HTTP\/1\.1 413 /)
  })

  it("may be exactly the limit", async () => {
    server = await intakeServer()
    const body = `{"a":"${"x".repeat(MIB - 8)}"}`
    assert.strictEqual((await server.post(body, { "content-type": "application/json" })).status, 200)
    assert.strictEqual((await server.post(`${body} `, { "content-type": "application/json" })).status, 413)
    assert.strictEqual(server.state.appended[0]!.original!.body.byteLength, 65_536)
  })

  it("gets a 100 Continue if the sender waits for it, and is refused if too large", async () => {
    server = await intakeServer()
    const small = await open()
    small.socket.write(head("Content-Length: 2", "Expect: 100-continue", "Connection: close"))
    await once(small.socket, "data")
    small.socket.write("{}")
    assert.match(await small.answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
  })
})

describe("a slow sender", () => {
  it("is abandoned when nothing arrives for the idle time", async () => {
    server = await intakeServer({ idle: 50 })
    const { socket, answer } = await open()
    socket.write(head("Content-Length: 10") + "{")
    assert.match(await answer, /^HTTP\/1\.1 408 [^]*connection: close[^]*"error":"timeout"/i)
    assert.deepStrictEqual(server.state.appended, [])
  })

  it("is abandoned when it exceeds the time for a whole body", async () => {
    server = await intakeServer({ idle: 1_000, total: 150 })
    const { socket, answer } = await open()
    socket.write(head("Content-Length: 1000") + "{")
    const drip = setInterval(() => socket.write(" "), 10)
    assert.match(await answer, /^HTTP\/1\.1 408 /)
    clearInterval(drip)
  })

  it("costs no more memory than its bytes when it sends them one by one", async () => {
    server = await intakeServer()
    const { socket, answer } = await open()
    socket.setNoDelay(true)
    socket.write(head("Content-Length: 2002", "Connection: close"))
    const text = `{"a":"${"x".repeat(1994)}"}`
    for (const byte of text) {
      socket.write(byte)
      await new Promise(setImmediate)
    }
    assert.match(await answer, /^HTTP\/1\.1 200 /)
    assert.deepStrictEqual(server.payloads(), [text])
  })

  it("does not use memory that others need", async () => {
    server = await intakeServer({ buffered: 100_000 })
    const holding = await open()
    holding.socket.write(head("Content-Length: 90010") + " ".repeat(90_000))
    for (;;) {
      const response = await server.post(" ".repeat(20_000), { "content-type": "application/json" })
      if (response.status === 503) {
        assert.strictEqual(response.headers.get("retry-after"), "5")
        break
      }
    }
    holding.socket.write("          ")
    holding.socket.end()
    await holding.answer
    assert.strictEqual((await server.post(" ".repeat(90_000))).status, 200)
  })
})

it("counts the bodies of all cabinets of a process together", async () => {
  server = await intakeServer()
  const other = await intakeServer({ buffered: 100_000 })
  const holding = await open()
  holding.socket.write(head("Content-Length: 90010") + " ".repeat(90_000))
  const post = () => other.post(" ".repeat(20_000), { "content-type": "application/json" })
  // Waits until the written bytes have arrived.
  while ((await post()).status !== 503);
  holding.socket.end(" ".repeat(10))
  await holding.answer
  assert.strictEqual((await post()).status, 400)
  await other.close()
})

it("holds no memory for a body that is refused before it is read", async () => {
  server = await intakeServer({ buffered: 100 })
  const { socket } = await open()
  const heard = once(socket, "data")
  socket.write(head("Content-Length: 200").replace(SECRET, "wrong") + "x".repeat(80))
  assert.match(String((await heard)[0]), /^HTTP\/1\.1 404 /)
  const answer = await server.post(`{"a":"${"x".repeat(50)}"}`, { "content-type": "application/json" })
  socket.destroy()
  assert.strictEqual(answer.status, 200)
})

describe("a sender that hangs up", () => {
  it("has sent nothing if the body is incomplete", async () => {
    server = await intakeServer()
    const { socket, answer } = await open()
    socket.write(head("Content-Length: 10") + '{"a":')
    socket.destroySoon()
    await answer
    assert.strictEqual((await server.post("{}", { "content-type": "application/json" })).status, 200)
    assert.deepStrictEqual(server.payloads(), ["{}"])
  })

  it.each(["admission", "gate"] as const)("has sent it if its last byte has arrived (%s)", async (stage) => {
    server = await intakeServer()
    const opened = Effect.runSync(Deferred.make<void>())
    const entered = new Promise<void>((done) => {
      server.state[stage] = Effect.suspend(() => {
        done()
        return Deferred.await(opened)
      })
    })
    const body = `{"a":"${"x".repeat(30_000)}"}`
    const { socket, answer } = await open()
    socket.write(head(`Content-Length: ${body.length}`) + body)
    await entered
    const gone = server.disconnected()
    socket.destroy()
    await answer
    await gone
    Effect.runSync(Deferred.succeed(opened, undefined))
    await server.appended()
    assert.deepStrictEqual(server.payloads(), [body])
  })
})
