/** How the API serves its descriptions: the document with a key, the reference without one, nothing from other hosts. */
import { hash } from "node:crypto"
import { request } from "node:http"
import { gunzipSync } from "node:zlib"
import { ENDPOINTS } from "@data-cabinet/http-node/routes/ApiRoutes"
import { afterEach, assert, it } from "vitest"
import { type ApiServer, serveApi } from "../support/apiServer.ts"

let server: ApiServer
afterEach(() => server.close())

// fetch would decompress the response; this shows it as sent.
const plainGet = (url: string, headers: Record<string, string>) =>
  new Promise<{ readonly status: number; readonly headers: Record<string, any>; readonly body: Buffer }>(
    (resolve, reject) => {
      request(url, { headers }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
        .on("error", reject)
        .end()
    },
  )

it("openapi.json is the description, for keys only", async () => {
  server = await serveApi()
  assert.equal((await server.ask("/api/v1/openapi.json", { headers: { authorization: "" } })).status, 401)
  const answer = await server.ask("/api/v1/openapi.json")
  assert.equal(answer.json.openapi, "3.1.0")
  assert.equal(answer.json.info.version, "1")
  assert.equal(answer.headers.get("x-ratelimit-limit"), "120")
})

it("docs redirects to the configured address, without a key", async () => {
  server = await serveApi({ docsUrl: "https://docs.example.org/cabinet" })
  const answer = await server.ask("/api/v1/docs", { headers: { authorization: "" } })
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.get("location"), "https://docs.example.org/cabinet")
  assert.equal((await server.ask("/reference")).status, 404)
})

it("docs redirects to the bundled reference if no address is configured", async () => {
  server = await serveApi()
  const answer = await server.ask("/api/v1/docs", { headers: { authorization: "" } })
  assert.equal(answer.headers.get("location"), "https://orders.cabinet.test/reference")
  assert.equal((await server.ask("/")).headers.get("location"), "https://orders.cabinet.test/reference")
  const page = await server.ask("/reference", { headers: { authorization: "" } })
  assert.equal(page.status, 200)
  assert.match(page.headers.get("content-type")!, /^text\/html/)
})

it("the reference has every endpoint, and nothing to fetch or run", async () => {
  server = await serveApi()
  const { text, headers } = await server.ask("/reference")
  for (const { id, path } of ENDPOINTS) assert.ok(text.includes(`id="${id}"`) && text.includes(`</b>${path}`), path)
  for (const word of ["event.received", "ping", "/webhook/{intake_secret}"]) assert.ok(text.includes(word), word)
  assert.notMatch(text, /<script|<link|<img|<iframe|@import|url\(|\bon[a-z]+="/i)
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!
  const policy = headers.get("content-security-policy")!
  assert.ok(policy.includes(`'sha256-${hash("sha256", style, "base64")}'`), "the policy forbids the page's own style")
  assert.ok(policy.startsWith("default-src 'none'"))
  for (const [, target] of text.matchAll(/href="#([^"]*)"/g)) assert.ok(text.includes(`id="${target}"`), target)
})

it("the reference is compressed for clients that accept it, and gets a 304 if unchanged", async () => {
  server = await serveApi()
  const url = `${server.base}/reference`
  const packed = await plainGet(url, { "accept-encoding": "br, gzip" })
  const plain = await plainGet(url, { "accept-encoding": "gzip;q=0" })
  assert.equal(packed.headers["content-encoding"], "gzip")
  assert.equal(plain.headers["content-encoding"], undefined)
  assert.deepEqual(gunzipSync(packed.body), plain.body)
  assert.ok(packed.body.length < 20_000, String(packed.body.length))
  assert.equal(plain.headers["vary"], "Accept-Encoding")
  for (const tag of [plain.headers["etag"], `W/${plain.headers["etag"]}, "other"`]) {
    const again = await plainGet(url, { "if-none-match": tag })
    assert.deepEqual([again.status, again.body.length], [304, 0])
  }
  assert.equal((await plainGet(url, { "if-none-match": '"other"' })).status, 200)
})
