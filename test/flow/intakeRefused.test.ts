/** Invalid requests, truncated bodies and bodies that expect 100-continue, at the address of a real source. */
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { afterAll, assert, beforeAll, it } from "vitest"
import { responsesIn, speak } from "../../packages/http-node/test/parser/wire.ts"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
let source: SourceWithSecret
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
  source = await cabinet.source("Refused")
})
afterAll(() => cabinet.close())

const head = (query: string | Buffer, ...lines: ReadonlyArray<string>) =>
  Buffer.concat([
    Buffer.from(`POST /webhook/${source.intakeSecret}`),
    Buffer.from(query as string),
    Buffer.from([" HTTP/1.1", "Host: x", "Content-Type: application/json", ...lines, "", ""].join("\r\n")),
  ])
const events = async () => (await cabinet.feed(source.id)).map(payloadText)

it("fields of the query are accepted as curl sends them, in UTF-8 and in an older charset", async () => {
  const before = (await events()).length
  for (const query of ["?имя=Иван", Buffer.from([0x3f, 0x78, 0x3d, 0xcf, 0xf0, 0xe8])]) {
    const answer = await speak(cabinet.port, head(query, "Content-Length: 7"), '{"a":1}')
    assert.match(answer, /^HTTP\/1\.1 200 [^]*"ok":true/)
  }
  assert.deepEqual((await events()).slice(before), ['{"имя":"Иван","a":1}', '{"x":"При","a":1}'])
  const originals = await database.run(
    `SELECT DISTINCT ip FROM cabinet.original_request WHERE source_id = ${source.id}`,
  )
  assert.deepEqual(originals, [{ ip: "127.0.0.1" }])
})

it("a truncated body is reported to a sender that still listens, and nothing of it is saved", async () => {
  const before = await events()
  const bodies = [
    [head("", "Content-Length: 9"), "{}"],
    [head("", "Transfer-Encoding: chunked"), "2\r\n{}\r\n"],
    [head("", "Content-Length: 9", "Expect: 100-continue"), "{}"],
  ] as const
  for (const [first, body] of bodies) {
    const answer = responsesIn(
      (await speak(cabinet.port, first, body, null)).replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, ""),
    )[0]!
    assert.strictEqual(answer.status, 408)
    assert.deepInclude(JSON.parse(answer.body), { ok: false, error: "timeout" })
    assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
  }
  const [broken] = responsesIn(
    await speak(cabinet.port, head("", "Transfer-Encoding: chunked"), "2\r\n{}\r\n", "zz\r\n"),
  )
  assert.strictEqual(broken!.status, 400)
  assert.deepInclude(JSON.parse(broken!.body), { ok: false, error: "bad_request" })
  assert.deepEqual(await events(), before)
})

it("a length over the limit is refused immediately to a sender that expects 100-continue, and so is every fault known before the body", async () => {
  const expect = "Expect: 100-continue"
  const over = await speak(cabinet.port, head("", "Content-Length: 1048577", expect))
  assert.match(over, /^HTTP\/1\.1 413 [^]*connection: close[^]*"error":"too_large"/i)
  assert.match(await speak(cabinet.port, head("x", "Content-Length: 2", expect)), /^HTTP\/1\.1 404 /)
  const coded = head("", "Content-Length: 2", "Content-Encoding: compress", expect)
  assert.match(await speak(cabinet.port, coded), /^HTTP\/1\.1 415 /)
})

it("a sender that expects 100-continue gets it when the body is wanted, once, and keeps the connection", async () => {
  const before = (await events()).length
  const text = await speak(
    cabinet.port,
    head("", "Content-Length: 7", "Expect: 100-continue"),
    '{"n":1}',
    head("", "Content-Length: 7", "Expect: 100-continue", "Connection: close"),
    '{"n":2}',
  )
  assert.match(text, /^(?:HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^{]*\{"ok":true[^{}]*\}\n){2}$/)
  assert.deepEqual((await events()).slice(before), ['{"n":1}', '{"n":2}'])
  const other = await speak(cabinet.port, head("", "Content-Length: 7", "Expect: more", "Connection: close"), '{"n":3}')
  assert.match(other, /^HTTP\/1\.1 200 /)
})
