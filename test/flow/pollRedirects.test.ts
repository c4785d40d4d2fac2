/** Redirects of polls: every target is checked, and credentials stay with the origin they were set for. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { headersFor, redirectTarget } from "@data-cabinet/delivery/poll/Redirect"
import { pollCabinet } from "../support/pollCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof pollCabinet>
/** Two origins. */
const servers: Array<Server> = []
let bases: ReadonlyArray<string>
let asked: Array<{ readonly origin: number; readonly url: string; readonly headers: IncomingMessage["headers"] }>
let answer: (origin: number, request: IncomingMessage, response: ServerResponse) => void

const listen = async (origin: number): Promise<string> => {
  const server = createServer((request, response) => {
    asked.push({ origin, url: request.url!, headers: request.headers })
    answer(origin, request, response)
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

beforeAll(async () => {
  cabinet = pollCabinet(database.url, { maxBytes: 100_000 })
  bases = [await listen(0), await listen(1)]
})
afterAll(async () => {
  await cabinet.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => {
  asked = []
})

const ITEMS = (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "application/json", etag: '"v1"' }).end('[{"id":1}]')

const redirect = (response: ServerResponse, location: string, status = 302) =>
  response.writeHead(status, { location }).end("[]")

const HEADERS = [
  ["Authorization", "Bearer planted"],
  ["X-Token", "planted"],
  ["Cookie", "a=planted"],
  ["Accept", "application/vnd.orders+json"],
] as const

let number = 0
const poll = async (path = "/items") => {
  const source = await cabinet.source(`redirected ${++number}`)
  return cabinet.add({ sourceId: source.id, url: `${bases[0]}${path}`, headers: HEADERS })
}

it.each([301, 302, 303, 307, 308])("Polls follows a redirect with the status %d", async (status) => {
  answer = (_origin, { url }, response) =>
    url === "/items" ? redirect(response, "v2/items?page=1#top", status) : ITEMS(response)
  const { id } = await poll()
  assert.deepInclude(await cabinet.run(id), { outcome: "read", status: 200, fresh: 1, failure: null })
  assert.deepStrictEqual(
    asked.map(({ url }) => url),
    ["/items", "/v2/items?page=1"],
  )
  for (const { headers } of asked) assert.strictEqual(headers.authorization, "Bearer planted")
  // The validators are those of the last response.
  await cabinet.run(id)
  assert.strictEqual(asked[3]!.headers["if-none-match"], '"v1"')
})

it("Polls drops the poll's credentials on another origin, and on the way back", async () => {
  answer = (origin, { url }, response) => {
    if (origin === 1) return redirect(response, `${bases[0]}/back`)
    return url === "/items" ? redirect(response, `${bases[1]}/there`) : ITEMS(response)
  }
  assert.deepInclude(await cabinet.run((await poll()).id), { outcome: "read", fresh: 1 })
  assert.deepStrictEqual(
    asked.map(({ origin, url }) => [origin, url]),
    [
      [0, "/items"],
      [1, "/there"],
      [0, "/back"],
    ],
  )
  assert.include(JSON.stringify(asked[0]!.headers), "planted")
  for (const { headers } of asked.slice(1)) {
    assert.notInclude(JSON.stringify(headers), "planted")
    assert.strictEqual(headers.accept, "application/vnd.orders+json")
  }
})

it("Polls follows five redirects, but not a sixth", async () => {
  const through = (count: number) => {
    asked = []
    answer = (_origin, { url }, response) => {
      const left = Number(/^\/items\/(\d+)/.exec(url!)?.[1] ?? count)
      return left === 0 ? ITEMS(response) : redirect(response, `/items/${left - 1}?key=planted`)
    }
  }
  through(5)
  assert.deepInclude(await cabinet.run((await poll()).id), { outcome: "read", fresh: 1 })
  assert.strictEqual(asked.length, 6)
  through(6)
  const run = await cabinet.run((await poll()).id)
  assert.deepInclude(run, { outcome: "failed", status: 302, fresh: 0 })
  assert.strictEqual(run!.failure, `redirected more than 5 times, at last to ${bases[0]}/items/0?…`)
  assert.strictEqual(asked.length, 6)
})

it.each<[location: string, failure: RegExp]>([
  [
    "http://10.0.0.5/?key=planted",
    /^behind a redirect to http:\/\/10\.0\.0\.5\/\?…: 10\.0\.0\.5 is not a public address/,
  ],
  ["http://169.254.169.254/latest/meta-data", /169\.254\.169\.254 is not a public address/],
  ["http://[::1]/", /is not a public address/],
  ["http://[::ffff:10.0.0.5]/", /is not a public address/],
  ["//10.0.0.5/", /10\.0\.0\.5 is not a public address/],
  ["http://0x0a000005/", /10\.0\.0\.5 is not a public address/],
  ["http://user:planted@127.0.0.1:1/", /must not contain a user name or password/],
  ["file:///etc/passwd", /which is neither http nor https/],
  ["gopher://127.0.0.1/", /which is neither http nor https/],
  ["javascript:alert(1)", /which is neither http nor https/],
  ["http://", /a redirect to what is not a URL/],
  ["http://a b/", /a redirect to what is not a URL/],
])("Polls refuses a redirect to %s, and connects to nothing", async (location, failure) => {
  answer = (_origin, _request, response) => redirect(response, location)
  const run = await cabinet.run((await poll()).id)
  assert.deepInclude(run, { outcome: "failed", status: 302, fresh: 0 })
  assert.match(run!.failure!, failure)
  assert.notInclude(run!.failure!, "planted")
  assert.strictEqual(asked.length, 1)
})

it("Polls follows no other status, and no redirect without a target", async () => {
  for (const [status, headers] of [
    [300, { location: "/other" }],
    [305, { location: "/other" }],
    [304, { location: "/other" }],
    [302, {}],
    [201, { location: "/other" }],
  ] as const) {
    asked = []
    answer = (_origin, _request, response) => response.writeHead(status, headers).end()
    assert.deepInclude(await cabinet.run((await poll()).id), { outcome: "failed", status })
    assert.strictEqual(asked.length, 1)
  }
})

describe("redirectTarget", () => {
  it("refuses https to http, and follows http to https", () => {
    const secure = new URL("https://a.example/x")
    assert.match(String(redirectTarget(301, "http://a.example/x", secure)), /from https to http is not followed/)
    assert.strictEqual(String(redirectTarget(301, "//b.example/y", secure)), "https://b.example/y")
    const plain = new URL("http://a.example/x")
    assert.strictEqual(String(redirectTarget(301, "https://a.example/x", plain)), "https://a.example/x")
    assert.isNull(redirectTarget(200, "https://a.example/x", plain))
  })

  it("keeps credentials only for the same scheme, host and port", () => {
    const from = new URL("https://a.example/x")
    for (const [target, kept] of [
      ["https://a.example/y", true],
      ["https://a.example:443/y", true],
      ["https://A.EXAMPLE/y", true],
      ["https://a.example:8443/y", false],
      ["https://b.a.example/y", false],
      ["http://a.example/y", false],
    ] as const)
      assert.strictEqual(headersFor([["X-Token", "s"]], from, new URL(target)).length === 1, kept, target)
  })
})
