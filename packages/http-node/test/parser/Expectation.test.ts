/** A sender that expects 100-continue gets it only when its body is read. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { assert, it } from "vitest"
import { listening, speak } from "./wire.ts"

it("an unread body gets no 100, and the next bytes are not mistaken for it", async () => {
  const seen: Array<string | undefined> = []
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.url)
    response.end("no")
  }
  await listening(handler, async (port) => {
    const asking = "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\nExpect: 100-continue\r\n\r\n"
    const text = await speak(port, asking, "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert.match(text, /^HTTP\/1\.1 200 [^]*connection: close[^]*no$/i)
    assert.deepEqual(seen, ["/1"])
  })
})
