/** Bodies as real senders write them, posted over HTTP and read back from the feed, the table and the due deliveries. */
import { afterAll, assert, beforeAll, it, vi } from "@effect/vitest"
import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { gzipSync } from "node:zlib"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { browserForm, curlFile, curlForm, githubPush, stripeEvent, telegramUpdate } from "../support/senders.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
  await database.run(
    `INSERT INTO cabinet.address (url, secret, every_source) VALUES ('http://127.0.0.1:9/', 's', true)`,
  )
})
afterAll(() => cabinet.close())

interface Sent {
  readonly status: number
  readonly text: string
  /** The payloads of the source's events in the feed. */
  readonly payloads: ReadonlyArray<string>
  readonly rows: ReadonlyArray<string>
  readonly deliveries: number
}

/** Sends once to a new source, by any means, and returns the result. */
const sent = async (
  name: string,
  send: (url: string) => Promise<{ readonly status: number; readonly text: string }>,
) => {
  const source = await cabinet.source(name)
  const answer = await send(cabinet.address(source))
  const feed = await cabinet.feed(source.id)
  const rows = await database.run(
    `SELECT (to_jsonb(t) - '_event_id' - '_received_at')::text AS row FROM sources."${source.table!.name}" t ORDER BY _event_id`,
  )
  const [due] = await database.run(
    `SELECT count(*)::int AS n FROM cabinet.delivery_all d JOIN cabinet.event e ON e.id = d.event_id WHERE e.source_id = ${source.id}`,
  )
  return {
    ...answer,
    payloads: feed.map(payloadText),
    rows: rows.map(({ row }) => String(row)),
    deliveries: Number(due!["n"]),
  } satisfies Sent
}

const posted =
  (body: RequestInit["body"], headers: Record<string, string> = {}) =>
  async (url: string) => {
    const response = await fetch(url, { method: "POST", body: body ?? null, headers, redirect: "manual" })
    return { status: response.status, text: await response.text() }
  }

/** Sends like curl with a large body: expects 100 Continue, and sends only after it. */
const asking = (body: string) => (url: string) =>
  new Promise<{ readonly status: number; readonly text: string }>((done, fail) => {
    const headers = { "content-type": "application/json", "content-length": body.length, expect: "100-continue" }
    const sending = request(url, { method: "POST", headers })
    sending.on("continue", () => sending.end(body)).on("error", fail)
    sending.on("response", (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        done({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        sending.destroy()
      })
    })
    sending.flushHeaders()
  })

it("curl -d sends a form", async () => {
  const { status, payloads, rows, deliveries } = await sent("curl -d", posted(curlForm.body, curlForm.headers))
  assert.strictEqual(status, 200)
  assert.deepStrictEqual(payloads, ['{"name":"Иван","tags[]":["a","b"],"note":"1 + 1 & 2"}'])
  assert.deepStrictEqual(
    rows.map((row) => JSON.parse(row)),
    [{ name: "Иван", tags: ["a", "b"], note: "1 + 1 & 2" }],
  )
  assert.strictEqual(deliveries, 1)
})

it("curl -d '{…}' sends JSON with a form's content type, and it is read as JSON", async () => {
  const { payloads } = await sent("curl -d json", posted('{"id":12345678901234567890}', curlForm.headers))
  assert.deepStrictEqual(payloads, ['{"id":12345678901234567890}'])
})

it("curl -F sends a form with a file", async () => {
  const { status, payloads } = await sent("curl -F", posted(curlFile.body, curlFile.headers))
  assert.strictEqual(status, 200)
  assert.deepStrictEqual(payloads, ['{"name":"Иван","file":{"name":"смета.csv","type":"text/csv","size":4}}'])
})

it("curl --data-binary gets a 100 for a full megabyte, and is refused for one byte more", async () => {
  const body = `{"a":"${"x".repeat(1_048_576 - 8)}"}`
  const whole = await sent("curl whole", asking(body))
  assert.strictEqual(whole.status, 200)
  assert.deepStrictEqual(whole.payloads, [body])
  const over = await sent("curl over", asking(`${body} `))
  assert.strictEqual(over.status, 413)
  assert.include(over.text, '"error":"too_large"')
  assert.deepStrictEqual(over.payloads, [])
})

it("fetch sends JSON, gzipped JSON and a hundred objects", async () => {
  const json = { "content-type": "application/json" }
  assert.deepStrictEqual((await sent("fetch", posted('{"total":12.50}', json))).payloads, ['{"total":12.50}'])
  const gzip = { ...json, "content-encoding": "gzip" }
  assert.deepStrictEqual((await sent("fetch gzip", posted(gzipSync('{"total":12.50}'), gzip))).payloads, [
    '{"total":12.50}',
  ])
  const hundred = Array.from({ length: 100 }, (_, n) => `{"n":${n}.0}`)
  const batch = await sent("fetch batch", posted(`[${hundred.join()}]`, json))
  assert.strictEqual(JSON.parse(batch.text).count, 100)
  assert.deepStrictEqual(batch.payloads, hundred)
  assert.strictEqual(batch.deliveries, 100)
})

it("fetch sends FormData and URLSearchParams", async () => {
  const form = new FormData()
  form.append("имя", "Анна")
  form.append("photo", new Blob([new Uint8Array(3)], { type: "image/png" }), "я.png")
  assert.deepStrictEqual((await sent("FormData", posted(form))).payloads, [
    '{"имя":"Анна","photo":{"name":"я.png","type":"image/png","size":3}}',
  ])
  const params = new URLSearchParams([
    ["q", "a b+c"],
    ["q", "ü"],
  ])
  assert.deepStrictEqual((await sent("URLSearchParams", posted(params))).payloads, ['{"q":["a b+c","ü"]}'])
})

it("navigator.sendBeacon sends text, a form or a typed blob", async () => {
  const text = { "content-type": "text/plain;charset=UTF-8" }
  assert.deepStrictEqual((await sent("beacon", posted('{"event":"leave","ms":1200}', text))).payloads, [
    '{"event":"leave","ms":1200}',
  ])
  const { status, payloads } = await sent("beacon text", posted("left the page", text))
  assert.strictEqual(status, 200)
  assert.match(payloads[0]!, /^{"_raw":"left the page","_parse_error":"/)
})

it("a browser sends a form in each of the three ways, even in windows-1251", async () => {
  const fields = [
    ["имя", "Анна & Ко"],
    ["согласие", "on"],
    ["пусто", ""],
  ] as const
  const expected = '{"имя":"Анна & Ко","согласие":"on","пусто":""}'
  for (const enctype of ["application/x-www-form-urlencoded", "multipart/form-data"] as const) {
    for (const charset of ["utf-8", "windows-1251"] as const) {
      const { headers, body } = browserForm(enctype, charset, fields)
      const { status, text, payloads } = await sent(`${enctype} ${charset}`, posted(body, headers))
      assert.strictEqual(status, 200)
      assert.include(text, "<h1>Спасибо</h1>")
      assert.deepStrictEqual(payloads, [expected])
    }
  }
  const { headers, body } = browserForm("text/plain", "utf-8", fields)
  const plain = await sent("text/plain", posted(body, headers))
  assert.include(plain.text, "<h1>Спасибо</h1>")
  assert.include(plain.payloads[0]!, "Анна & Ко")
})

it.each([
  ["Stripe", stripeEvent],
  ["GitHub", githubPush],
  ["Telegram", telegramUpdate],
] as const)("%s sends a webhook, and every token of it is kept", async (name, { headers, body }) => {
  const { status, text, payloads, rows, deliveries } = await sent(name, posted(body, headers))
  assert.strictEqual(status, 200)
  assert.deepInclude(JSON.parse(text), { ok: true, duplicate: false, empty: false })
  // The white space between tokens is the only thing that is not kept.
  assert.strictEqual(payloads[0], body.replaceAll(/\n\s*|(?<=":) /g, ""))
  assert.strictEqual(rows.length, 1)
  assert.strictEqual(deliveries, 1)
})

it("the bodies of forty senders that reset their connections right after the last byte are all accepted", async () => {
  const source = await cabinet.source("hasty")
  const { pathname } = new URL(cabinet.address(source))
  const sockets = Array.from({ length: 40 }, () => connect({ port: cabinet.port, host: "127.0.0.1" }))
  await Promise.all(sockets.map((socket) => once(socket, "connect")))
  for (const [n, socket] of sockets.entries()) {
    const body = `{"n":${n}}`
    const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(head + body, () => socket.resetAndDestroy())
  }
  const saved = async () => (await cabinet.feed(source.id)).map(payloadText)
  await vi.waitFor(async () => assert.lengthOf(await saved(), 40), { timeout: 120_000 })
  assert.sameMembers(
    await saved(),
    sockets.map((_, n) => `{"n":${n}}`),
  )
})
