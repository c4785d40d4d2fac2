/**
 * A request that Node's parser or timeouts refuse gets a response in the addressed interface's form, never in place of
 * another response.
 */
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { responsesIn, listening, speak } from "./wire.ts"

const never = (_request: IncomingMessage, response: ServerResponse) => response.writeHead(500).end()

const HOST = "Host: x\r\n"
const LONG = "a".repeat(60_000)

/** Refused requests, by the lines after `METHOD target`, and their response. */
const REFUSED: ReadonlyArray<readonly [what: string, rest: ReadonlyArray<string | null>, status: number]> = [
  ["two hosts", [` HTTP/1.1\r\n${HOST}${HOST.toUpperCase()}\r\n`], 400],
  ["no host", [" HTTP/1.1\r\n\r\n"], 400],
  ["a space in the address", [`?a=b c HTTP/1.1\r\n${HOST}\r\n`], 400],
  ["an address of no HTTP", ["?a=\u0001 HTTP/1.1\r\n\r\n"], 400],
  ["an unknown version", [` HTTP/3.1\r\n${HOST}\r\n`], 400],
  ["a header that is none", [` HTTP/1.1\r\n${HOST}b@d\r\n\r\n`], 400],
  ["a zero byte in a header", [` HTTP/1.1\r\n${HOST}A: b\0c\r\n\r\n`], 400],
  ["a length and chunks", [` HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`], 400],
  ["two lengths", [` HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`], 400],
  ["a head too large", [` HTTP/1.1\r\n${HOST}A: ${LONG}${LONG}\r\n\r\n`], 431],
  ["a head too large, in pieces", [` HTTP/1.1\r\n${HOST}`, `A: ${LONG}`, LONG, "\r\n\r\n"], 431],
  ["an address too large, in pieces", [`?${LONG}`, LONG, ` HTTP/1.1\r\n${HOST}\r\n`], 431],
  ["too many headers", [` HTTP/1.1\r\n${HOST}${"A: b\r\n".repeat(2_100)}\r\n`], 431],
  ["a head that breaks off", [` HTTP/1.1\r\n${HOST}`, null], 400],
]

describe("bytes that are not a request", () => {
  it.each(REFUSED)("%s gets the intake's error under its address, the API's elsewhere", async (_, rest, status) => {
    await listening(never, async (port) => {
      const [first, ...more] = rest
      const ask = async (line: string) => {
        const [answer, ...others] = responsesIn(await speak(port, line + first!, ...more))
        assert.deepEqual(others, [])
        assert.strictEqual(answer!.status, status)
        assert.strictEqual(answer!.headers.get("content-type"), "application/json")
        assert.strictEqual(answer!.headers.get("connection"), "close")
        assert.match(answer!.body, /[^\n]\n$/)
        return { ...answer!, json: JSON.parse(answer!.body) as Record<string, any> }
      }
      for (const path of ["/webhook/secret", "/mounted/webhook/secret", "/webhook/", "http://x/webhook/secret"]) {
        const { json, headers } = await ask(`POST ${path}`)
        assert.deepEqual(Object.keys(json), ["ok", "error", "detail"])
        assert.deepInclude(json, { ok: false, error: "bad_request" })
        assert.match(json["detail"], /\.$/)
        assert.notInclude(json["detail"], "secret")
        assert.strictEqual(headers.get("access-control-allow-origin"), "*")
      }
      for (const path of ["/api/v1/events", "/", "/api/v1/tables/public/webhooks"]) {
        const { json, headers } = await ask(`GET ${path}`)
        assert.deepEqual(Object.keys(json), ["error"])
        assert.deepInclude(json["error"], { type: "invalid_request", code: "bad_request", param: null })
        assert.match(json["error"].message, /\.$/)
        assert.isNull(headers.get("access-control-allow-origin"))
      }
    })
  })

  it("bytes of another protocol get a response as well", async () => {
    await listening(never, async (port) => {
      for (const bytes of [Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]) {
        const [answer] = responsesIn(await speak(port, bytes))
        assert.strictEqual(answer!.status, 400)
        assert.strictEqual(JSON.parse(answer!.body).error.code, "bad_request")
      }
    })
  })

  it("HTTP/1.0 without a Host header is accepted", async () => {
    const handler = (_request: IncomingMessage, response: ServerResponse) => response.end("taken")
    await listening(handler, async (port) => assert.match(await speak(port, "GET / HTTP/1.0\r\n\r\n"), /taken$/))
  })
})

describe("bytes that arrive with a request", () => {
  it("complete requests get their responses before a later one is refused", async () => {
    const waiting: Array<() => void> = []
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      waiting.push(() => response.end(`answer to ${request.url}`))
      // Responds late and in reverse; the responses are sent in the order of the requests.
      if (waiting.length === 2) for (const answer of waiting.toReversed()) setImmediate(answer)
    }
    await listening(handler, async (port) => {
      const one = (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`
      const answers = responsesIn(await speak(port, `${one("/webhook/1")}${one("/webhook/2")}no request\r\n\r\n`))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 400],
      )
      assert.deepEqual(
        answers.slice(0, 2).map(({ body }) => body),
        ["answer to /webhook/1", "answer to /webhook/2"],
      )
      assert.strictEqual(JSON.parse(answers[2]!.body).error, "bad_request")
    })
  })

  it("a body with broken chunks is refused, and never treated as complete", async () => {
    let ended = false
    const broken = new Promise<void>((resolve) => {
      const handler = (request: IncomingMessage, response: ServerResponse) => {
        request.resume().on("end", () => (ended = true))
        request.on("error", () => {})
        response.once("close", resolve)
      }
      void listening(handler, async (port) => {
        const head = `POST /webhook/s HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`
        const [answer] = responsesIn(await speak(port, head, "2\r\nhi\r\n", "zz\r\n"))
        assert.strictEqual(answer!.status, 400)
        assert.deepInclude(JSON.parse(answer!.body), { ok: false, error: "bad_request" })
      })
    })
    await broken
    assert.isFalse(ended)
  })

  it("an unfinished body after a complete request is also refused, and holds no connection", async () => {
    const broken: Array<string> = []
    let sent = 0
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      request.on("error", () => {
        broken.push(request.url!)
        response.end("broken off")
      })
      // Responds only after the parser has given up on the bytes that follow.
      const respond = () => {
        if (request.socket.bytesRead < sent) setImmediate(respond)
        else setTimeout(() => response.end("whole"), 20)
      }
      request.resume().on("end", respond)
    }
    const whole = `POST /api/v1/first HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`
    const head = `${whole}POST /webhook/second HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`
    await listening(handler, async (port) => {
      sent = head.length + 4
      const [first, second, ...more] = responsesIn(await speak(port, head, "zz\r\n"))
      assert.deepEqual([first!.status, first!.body, second!.status, more], [200, "whole", 400, []])
      assert.deepInclude(JSON.parse(second!.body), { ok: false, error: "bad_request" })
      assert.deepEqual(broken, [])
      sent = head.length + 7
      const [one, other] = responsesIn(await speak(port, head, "2\r\nhi\r\n", null))
      assert.deepEqual([one!.body, other!.body], ["whole", "broken off"])
      assert.deepEqual([...new Set(broken)], ["/webhook/second"])
    })
  })

  it("a sender that continues after a refusal still receives it", async () => {
    await listening(never, async (port) => {
      const socket = connect(port, "127.0.0.1")
      let text = ""
      socket.on("data", (chunk) => (text += chunk.toString()))
      let reset = false
      socket.on("error", () => (reset = true))
      socket.write(`POST /webhook/s HTTP/1.1\r\n${HOST}A: ${LONG}${LONG}${LONG}${LONG}${LONG}\r\n`)
      await once(socket, "end")
      socket.destroy()
      assert.deepEqual([reset, responsesIn(text)[0]!.status], [false, 431])
    })
  })
})
