import { afterAll, assert, beforeAll, beforeEach, it } from "@effect/vitest"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { intakeServer } from "./intakeServer.ts"
import type { IntakeServer } from "./intakeServer.ts"

let server: IntakeServer
beforeAll(async () => {
  server = await intakeServer()
})
afterAll(() => server.close())
beforeEach(() => {
  server.state.appended = []
})

const encoded = (encoding: string) => ({ "content-type": "application/json", "content-encoding": encoding })
const BODY = Buffer.from('{"a":1.0}')

it.each([
  ["gzip", gzipSync(BODY)],
  ["GZIP", gzipSync(BODY)],
  ["x-gzip", gzipSync(BODY)],
  ["deflate", deflateSync(BODY)],
  ["deflate", deflateRawSync(BODY)],
  ["br", brotliCompressSync(BODY)],
  ["zstd", zstdCompressSync(BODY)],
  ["identity", BODY],
  ["utf-8", BODY],
  ["none", BODY],
  ["8bit, gzip", gzipSync(BODY)],
  ["gzip, zstd", zstdCompressSync(gzipSync(BODY))],
  ["deflate, gzip", gzipSync(deflateSync(BODY))],
  ["gzip", Buffer.concat([gzipSync(BODY.subarray(0, 4)), gzipSync(BODY.subarray(4))])],
])("a body with content encoding %s is read and kept decoded", async (encoding, body) => {
  assert.strictEqual((await server.post(body, encoded(encoding))).status, 200)
  assert.deepStrictEqual(server.payloads(), ['{"a":1.0}'])
  assert.deepStrictEqual(Buffer.from(server.state.appended[0]!.original!.body), BODY)
})

it.each([
  ["gzip", BODY],
  ["zstd", BODY],
  [null, gzipSync(BODY)],
])("a body is what its first bytes say where the header is %s", async (encoding, body) => {
  const { "content-encoding": named, ...plain } = encoded(encoding ?? "")
  assert.strictEqual(
    (await server.post(body, encoding === null ? plain : { ...plain, "content-encoding": named })).status,
    200,
  )
  assert.deepStrictEqual(server.payloads(), ['{"a":1.0}'])
})

it("gzip without a header keeps its bytes if it is cut off, or sent as a file", async () => {
  const cut = gzipSync(BODY).subarray(0, 20)
  await server.post(cut, { "content-type": "application/json" })
  await server.post(gzipSync(BODY), { "content-type": "application/gzip" })
  assert.deepStrictEqual(
    server.state.appended.map(({ original }) => Buffer.from(original!.body)),
    [cut, gzipSync(BODY)],
  )
})

it("a bomb of gzip without a header is not unpacked past the limit", async () => {
  const bomb = gzipSync(Buffer.alloc(1_048_577, 32))
  assert.strictEqual((await server.post(bomb, { "content-type": "application/json" })).status, 413)
})

it.each(["compress", "base64", "gzip, compress", "gzip, zstd, gzip"])(
  "the content encoding %s is refused as unsupported",
  async (encoding) => {
    const response = await server.post(BODY, encoded(encoding))
    assert.strictEqual(response.status, 415)
    assert.deepInclude(await response.json(), { ok: false, error: "unsupported_encoding" })
    assert.deepStrictEqual(server.state.appended, [])
  },
)

it.each([
  ["gzip", gzipSync(Buffer.alloc(1_048_577, 32))],
  ["br", brotliCompressSync(Buffer.alloc(1_048_577, 32))],
  ["deflate", deflateSync(Buffer.alloc(600 * 1_048_576, 32), { level: 1 })],
  ["zstd", zstdCompressSync(Buffer.alloc(600 * 1_048_576, 32))],
])("a decompression bomb in %s is not unpacked past the limit", async (encoding, bomb) => {
  const before = process.memoryUsage().rss
  const response = await server.post(bomb.subarray(0, 1_048_576), encoded(encoding))
  assert.strictEqual(response.status, 413)
  assert.deepInclude(await response.json(), { ok: false, error: "too_large", limit: 1_048_576 })
  assert.isBelow(process.memoryUsage().rss - before, 100 * 1_048_576)
})

it("a compressed body of exactly the limit is read", async () => {
  const text = `{"a":"${"x".repeat(1_048_576 - 8)}"}`
  assert.strictEqual((await server.post(gzipSync(text), encoded("gzip"))).status, 200)
  assert.strictEqual(server.state.appended[0]!.original!.bodyBytes, 1_048_576)
})

it.each([
  ["gzip", Buffer.from("not gzip at all")],
  ["gzip", gzipSync(BODY).subarray(0, 15)],
  ["deflate", Buffer.from([0xff, 0xff, 0xff])],
  ["br", Buffer.from("not br")],
  ["br", Buffer.concat([brotliCompressSync(BODY), Buffer.from("more")])],
  ["zstd", zstdCompressSync(BODY).subarray(0, 10)],
])("a body with broken %s is kept with the reason", async (encoding, body) => {
  const response = await server.post(body, encoded(encoding))
  assert.strictEqual(response.status, 400)
  assert.deepInclude(await response.json(), { ok: false, error: "bad_encoding", id: 1 })
  assert.match(server.payloads()[0]!, new RegExp(`^{"_raw":".*","_parse_error":"The body is not valid ${encoding}: `))
  assert.deepStrictEqual(Buffer.from(server.state.appended[0]!.original!.body), body)
})

it("an empty body is empty whatever its content encoding", async () => {
  const response = await server.post(null, encoded("gzip"))
  assert.deepInclude(await response.json(), { ok: true, empty: true })
})
