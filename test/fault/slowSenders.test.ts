import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type { Limits } from "@data-cabinet/http-node/intake/BodyLimits"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { type IntakeProcess, startIntakeProcess } from "../support/intakeProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
const servers: Array<IntakeProcess> = []
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(async () => {
  await Promise.all(servers.map(({ stop }) => stop()))
  await cabinet.close()
})

const serve = async (limits: Partial<Limits>) => {
  const server = await startIntakeProcess(database.url, { limits })
  servers.push(server)
  return server
}

const SENDERS = 1_000
const MIB = 1_048_576

it("a thousand slow senders use little memory, delay no other sender, and are abandoned in time", async () => {
  const server = await serve({ idle: 3_000 })
  const source = await cabinet.source("Slow")
  const path = `/webhook/${source.intakeSecret}`
  const quick = async (n: number) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "POST", body: `{"n":${n}}` })
    await response.arrayBuffer()
    return response.status
  }
  for (let n = 0; n < 200; n++) assert.strictEqual(await quick(n), 200)
  const before = await server.memory()

  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n`
  const slow = await Promise.all(
    Array.from({ length: SENDERS }, async (_, n) => {
      const socket = connect(server.port, "127.0.0.1")
      let answer = ""
      socket.on("error", () => {})
      socket.on("data", (chunk) => (answer += chunk.toString()))
      const closed = once(socket, "close").then(() => answer)
      await once(socket, "connect")
      // A third of them send no body at all, a third one byte, and a third one kilobyte and then nothing.
      socket.write(head + [``, ` `, ` `.repeat(1024)][n % 3]!)
      return { socket, closed }
    }),
  )
  for (let n = 0; n < 50; n++) assert.strictEqual(await quick(1_000 + n), 200)
  const growth = (await server.memory()) - before
  assert.isBelow(growth, 64 * MIB, `${SENDERS} senders cost ${Math.round(growth / MIB)} MiB`)

  for (const { closed } of slow) assert.match(await closed, /^HTTP\/1\.1 408 [^]*"error":"timeout"/)
  assert.strictEqual(await quick(2_000), 200)
  assert.strictEqual((await cabinet.feed(source.id)).length, 251)
})

/** Sends a text on a new connection. The second promise has the response when the server closes its side. */
const half = async (port: number, text: string): Promise<readonly [Socket, Promise<string>]> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let answer = ""
  socket.on("error", () => {}).on("data", (chunk) => (answer += chunk.toString()))
  const ended = Promise.race([once(socket, "end"), once(socket, "close")]).then(() => answer)
  await once(socket, "connect")
  socket.write(text)
  return [socket, ended]
}

it("a connection with nothing or half a request head is closed by the server", async () => {
  const server = await serve({})
  for (const [socket, ended] of await Promise.all(
    ["", "POST /webhook/x HTTP/1.1\r\nHost"].map((text) => half(server.port, text)),
  )) {
    assert.match(await ended, /^(HTTP\/1\.1 408 |$)/)
    socket.destroy()
  }
})

it("a connection with half a body is closed by the server; one that its sender closed after the whole body gets a response", async () => {
  const server = await serve({ idle: 200 })
  const source = await cabinet.source("Half open")
  const head = (length: number) =>
    `POST /webhook/${source.intakeSecret} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`
  const [body, bodyEnded] = await half(server.port, `${head(10)}{"a"`)
  assert.match(await bodyEnded, /^HTTP\/1\.1 408 /)
  body.destroy()
  // The body of a sender that does not wait for the response counts as well.
  const [whole, wholeEnded] = await half(server.port, `${head(7)}{"a":1}`)
  whole.end()
  assert.match(await wholeEnded, /^HTTP\/1\.1 200 /)
  whole.destroy()
  await server.stop()
  assert.deepStrictEqual((await cabinet.feed(source.id)).map(payloadText), ['{"a":1}'])
})
