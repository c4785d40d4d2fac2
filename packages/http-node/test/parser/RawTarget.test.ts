/** Raw UTF-8 in a URL is accepted as if percent-encoded, and nothing else that a strict parser refuses. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { assert, describe, it } from "vitest"
import { responsesIn, listening, speak } from "./wire.ts"

const echo = (request: IncomingMessage, response: ServerResponse) => {
  let body = ""
  request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
  request.on("end", () =>
    response.end(
      JSON.stringify([request.method, request.url, request.headers.host, body, request.socket.remoteAddress]),
    ),
  )
}

const asked = (...pieces: ReadonlyArray<string | Buffer | null>) =>
  listening(echo, async (port) => {
    const [answer, ...more] = responsesIn(await speak(port, ...pieces))
    assert.deepEqual(more, [])
    return answer!
  })

describe("raw bytes in an address", () => {
  it.each([
    [["GET /a?x=Жю HTTP/1.1\r\nHost: x\r\n\r\n"], ["GET", "/a?x=%D0%96%D1%8E", "x", ""]],
    [["GET /Ж/b#ю HTTP/1.1\r\nHost: x\r\n\r\n"], ["GET", "/%D0%96/b#%D1%8E", "x", ""]],
    [
      ["GET /a?x=Ж", "ю&y=Я HTTP/1.1\r\nHost", ": x\r\n\r\n"],
      ["GET", "/a?x=%D0%96%D1%8E&y=%D0%AF", "x", ""],
    ],
    [
      ["POST /a?x=Ж HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n", "боди".slice(0, 3)],
      ["POST", "/a?x=%D0%96", "x", "бод"],
    ],
    [
      ["POST /a?x=Ж HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nЖ\r\n0\r\n\r\n", null],
      ["POST", "/a?x=%D0%96", "x", "Ж"],
    ],
  ] as const)("%j are read percent-encoded", async (pieces, expected) => {
    const { status, body } = await asked(...pieces)
    assert.strictEqual(status, 200)
    assert.deepEqual(JSON.parse(body), [...expected, "127.0.0.1"])
  })

  it("are accepted after another request of the connection has its response", async () => {
    await listening(echo, async (port) => {
      const text = await speak(port, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /2?Ж HTTP/1.1\r\nHost: x\r\n\r\n")
      assert.deepEqual(
        responsesIn(text).map(({ body }) => JSON.parse(body)[1]),
        ["/1", "/2?%D0%96"],
      )
    })
  })

  it.each([
    ["a second length", "POST /?Ж HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length and chunks",
      "POST /?Ж HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a space in the address", "GET /?Ж b HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a header that ends with a line feed alone", "GET /?Ж HTTP/1.1\nHost: x\r\nA: b\n\r\n"],
    ["a second host", "GET /?Ж HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"],
    ["a control character", "GET /?Ж\u0001 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["another method", "BREW /?Ж HTTP/1.1\r\nHost: x\r\n\r\n"],
  ] as const)("do not let %s through", async (_, request) => {
    assert.strictEqual((await asked(request)).status, 400)
  })

  it("are not looked for behind a request in flight, or in the second packet of a URL", async () => {
    const later = (request: IncomingMessage, response: ServerResponse) =>
      void setTimeout(() => response.end(request.url), 20)
    await listening(later, async (port) => {
      const text = await speak(port, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2?Ж HTTP/1.1\r\nHost: x\r\n\r\n")
      assert.deepEqual(
        responsesIn(text).map(({ status }) => status),
        [200, 400],
      )
      assert.include(responsesIn(text)[1]!.body, "percent-encoded")
      assert.strictEqual(responsesIn(await speak(port, "GET /?x=", "Ж HTTP/1.1\r\nHost: x\r\n\r\n"))[0]!.status, 400)
    })
  })
})
