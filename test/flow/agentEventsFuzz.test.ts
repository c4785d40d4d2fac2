/**
 * Random requests for events: none is answered with a 5xx, and each answer is one that JSON-RPC has. `FUZZED_REQUESTS` sends
 * more.
 */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Random, randomOf, seeded } from "../support/random.ts"

const REQUESTS = Number(process.env["FUZZED_REQUESTS"] ?? 300)
const CODES = [
  -32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_022, -32_023, -32_024, -32_025, -32_026, -32_027,
]

const database = withDatabase()
let cabinet: ApiCabinet
let key = ""
let cursor = ""

beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  key = await cabinet.key()
  const { intakeSecret } = await cabinet.source("Orders")
  await cabinet.send(intakeSecret, '{"n":1}')
  const answer = await sent(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "events/poll", params: { _meta: META, name: "source.orders" } }),
    "events/poll",
  )
  assert.equal(answer.status, 200, answer.text)
  cursor = JSON.parse(answer.text).result?.cursor ?? assert.fail(answer.text)
})
afterAll(() => cabinet.close())

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
}

const sent = async (body: string, method: string) => {
  const leave = new AbortController()
  const response = await fetch(`${cabinet.base}/mcp`, {
    method: "POST",
    body,
    signal: leave.signal,
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": encodeURI(method),
    },
  })
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    leave.abort()
    return { status: response.status, text: "", isStream: true }
  }
  return { status: response.status, text: await response.text(), isStream: false }
}

const METHODS = ["list", "poll", "stream", "subscribe", "unsubscribe", "", "poll/", "LIST"].map(
  (one) => `events/${one}`,
)

const oddValue = (random: Random): unknown =>
  randomOf<() => unknown>(random, [
    () => null,
    () => random(3) - 1,
    () => 10 ** random(20),
    () => random(2) === 0,
    () => [],
    () => ({ a: [null, { b: "я" }] }),
    () => "\u0000\ud800'\"",
    () => "x".repeat(random(3_000)),
    () => 0.5,
    () => ({ __proto__: null, constructor: 1 }),
  ])()

const deliveryOf = (random: Random): unknown => ({
  mode: random(6) === 0 ? oddValue(random) : "webhook",
  url: randomOf(random, [
    "https://10.0.0.1/hook",
    "https://localhost/hook",
    "http://[::1]:1/",
    "https://169.254.169.254/",
    "https://a.invalid/",
    "javascript:alert(1)",
    "https://user@example.com/",
    oddValue(random),
  ]),
  secret: randomOf(random, [
    `whsec_${Buffer.alloc(24 + random(60), 7).toString("base64")}`,
    "whsec_",
    oddValue(random),
  ]),
})

const paramsOf = (random: Random): Record<string, unknown> => {
  const params: Record<string, unknown> = {
    _meta: random(12) === 0 ? oddValue(random) : META,
    name: randomOf(random, ["source.orders", "event.received", "source.", oddValue(random)]),
    cursor: randomOf(random, [cursor, null, `${cursor}x`, cursor.slice(1), oddValue(random)]),
    arguments: randomOf(random, [{}, undefined, { a: 1 }, oddValue(random)]),
    delivery: random(4) === 0 ? oddValue(random) : deliveryOf(random),
    maxAgeMs: randomOf(random, [undefined, 0, 10 ** 15, oddValue(random)]),
    maxEvents: randomOf(random, [undefined, 1, 10 ** 9, oddValue(random)]),
    ttlMs: randomOf(random, [undefined, null, 1, oddValue(random)]),
  }
  for (const name of Object.keys(params)) if (random(5) === 0) delete params[name]
  return params
}

it(`${REQUESTS} random requests for events get errors of JSON-RPC, and none a 5xx`, async () => {
  const random = seeded(3415)
  for (let n = 0; n < REQUESTS; n++) {
    const method = randomOf(random, METHODS)
    const whole = JSON.stringify({
      jsonrpc: "2.0",
      id: n,
      method,
      params: random(15) === 0 ? oddValue(random) : paramsOf(random),
    })
    const body = random(10) === 0 ? whole.slice(0, random(whole.length)) : whole
    const { status, text, isStream } = await sent(body, method)
    assert.isBelow(status, 500, body)
    if (isStream || status === 202) continue
    const { jsonrpc, id, result, error } = JSON.parse(text)
    assert.equal(jsonrpc, "2.0", body)
    assert.isTrue((result === undefined) !== (error === undefined), body)
    assert.isTrue(id === n || id === null, body)
    if (error === undefined) continue
    assert.include(CODES, error.code, body)
    assert.isString(error.message)
    assert.notEqual(error.code, -32_603, `${body}\n${text}`)
  }
})
