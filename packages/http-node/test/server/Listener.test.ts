import { assert, it } from "@effect/vitest"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect } from "node:net"
import { ManagedRuntime } from "effect"
import { Listener } from "../../src/server/Listener.ts"
import { listening, speak } from "../parser/wire.ts"

/** Sends this text, closes its side, and returns what it receives; the server responds after it has seen the close. */
const closedAfter = async (words: string) => {
  let gone = false
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    response.once("close", () => (gone ||= !response.writableFinished))
    request.resume()
    request.socket.once("end", () => setImmediate(() => response.end("answer")))
  }
  const runtime = ManagedRuntime.make(Listener.layer(handler, { host: "127.0.0.1", port: 0 }))
  const { port } = await runtime.runPromise(Listener)
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let text = ""
  socket.on("data", (chunk) => (text += chunk.toString()))
  socket.end(words)
  await once(socket, "end")
  await runtime.dispose()
  return { text, gone }
}

it("Listener responds to a sender that closed its side after its body, and then closes", async () => {
  for (const body of ["Content-Length: 2\r\n\r\nhi", "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"]) {
    const { text, gone } = await closedAfter(`POST / HTTP/1.1\r\nHost: x\r\n${body}`)
    assert.match(text, /^HTTP\/1\.1 200 OK[^]*answer$/)
    assert.isFalse(gone)
  }
})

it("Listener notices a client that closes after its request, so that its work can stop", async () => {
  const { text, gone } = await closedAfter("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  assert.deepStrictEqual({ text, gone }, { text: "", gone: true })
})

it("Listener never treats a body as complete that its sender did not finish", async () => {
  const heard: Array<string> = []
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    request.resume().on("end", () => heard.push("end"))
    request.on("error", () => {
      heard.push("error")
      response.writeHead(408).end()
    })
  }
  await listening(handler, async (port) => {
    const text = await speak(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhi", null)
    assert.match(text, /^HTTP\/1\.1 408 [^]*connection: close/i)
  })
  assert.deepStrictEqual(heard, ["error"])
})

it("Listener passes on requests in order, after reading all that arrived together", async () => {
  const order: Array<string> = []
  const came = (message: unknown) => order.push(`${(message as { request: IncomingMessage }).request.url} came`)
  subscribe("http.server.request.start", came)
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    order.push(`${request.url} is handled`)
    response.end()
  }
  const runtime = ManagedRuntime.make(Listener.layer(handler, { host: "127.0.0.1", port: 0 }))
  const { port } = await runtime.runPromise(Listener)
  const socket = connect({ port, host: "127.0.0.1" })
  socket.resume().write("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  await once(socket, "close")
  await runtime.dispose()
  unsubscribe("http.server.request.start", came)
  assert.deepStrictEqual(order, ["/a came", "/b came", "/a is handled", "/b is handled"])
})
