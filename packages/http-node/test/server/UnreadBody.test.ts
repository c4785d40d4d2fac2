/** A response does not wait for an unread body, and its connection waits only a limited time. */
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { closesConnection, endUnreadBody } from "@data-cabinet/http-node/server/UnreadBody"
import { afterAll, assert, beforeAll, it } from "vitest"

const DISCARD_MILLIS = 50

/** Responds at once, whatever the body. */
const server = createServer((request, response) => {
  endUnreadBody(request, response, DISCARD_MILLIS)
  const headers = { "content-length": "2", ...(closesConnection(request) ? { connection: "close" } : {}) }
  response.writeHead(401, headers).end("no")
})
let port: number
beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** Everything that the server sends until it closes the connection. */
const send = async (...parts: ReadonlyArray<string>): Promise<string> => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("utf8").on("data", (part: string) => (text += part))
  for (const part of parts) socket.write(part)
  await once(socket, "close")
  return text
}

const head = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`

// Without a limit these connections last until Node ends the whole request, after 300 s.
it.each([
  ["never comes", 100, ""],
  ["comes only in part", 100, "a=1"],
  ["is large and never comes", 1_000_000_000, ""],
])("endUnreadBody ends the connection of a body that %s, after its response", async (_, length, part) => {
  assert.match(await send(head(length), part), /^HTTP\/1\.1 401 [\s\S]*no$/)
})

it("endUnreadBody keeps the connection of a body that comes in time", async () => {
  const again = `${head(3)}c=3`
  const text = await send(`${head(3)}a=1`, again, `${head(3).replace("Host", "Connection: close\r\nHost")}b=2`)
  assert.strictEqual(text.split("HTTP/1.1 401").length - 1, 3)
})
