import { afterEach, assert, beforeEach, it } from "@effect/vitest"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
let cabinet: IntakeCabinet
beforeEach(async () => {
  database = await testDatabase()
  cabinet = await intakeCabinet(database.url)
})
afterEach(async () => {
  await cabinet.close()
  await database.drop()
})

const send = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  })
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() }
}

it("a sender gets a response that asks to retry, in JSON or as a page, when the database is lost", async () => {
  const source = await cabinet.source("Away")
  const url = cabinet.address(source)
  assert.strictEqual((await send(url, '{"n":1}')).status, 200)
  await database.drop()
  const program = await send(url, '{"n":2}')
  assert.strictEqual(program.status, 503)
  assert.isAtLeast(Number(program.retryAfter), 1)
  assert.deepInclude(JSON.parse(program.text), { ok: false, error: "unavailable" })
  const form = { accept: "text/html", "content-type": "application/x-www-form-urlencoded" }
  const person = await send(url, "n=3", form)
  assert.strictEqual(person.status, 503)
  assert.include(person.text, "<h1>Temporarily unavailable</h1>")
})

it("a body is never written twice when the connection is lost midway, and sending it again is recognised", async () => {
  const source = await cabinet.source("Lost")
  const url = cabinet.address(source)
  await send(url, '{"n":0}')
  // The writer's session is terminated in the middle of its statement, as by a failing server.
  await database.run(
    `CREATE FUNCTION cabinet.fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NEW; END $$`,
  )
  await database.run(
    `CREATE TRIGGER fail_once BEFORE INSERT ON cabinet.event FOR EACH ROW EXECUTE FUNCTION cabinet.fail_once()`,
  )
  const lost = await send(url, '{"n":1}')
  assert.strictEqual(lost.status, 503)
  assert.match(lost.text, /unknown whether this was saved/)
  await database.run("DROP TRIGGER fail_once ON cabinet.event")
  assert.deepStrictEqual((await cabinet.feed(source.id)).map(payloadText), ['{"n":0}'])
  assert.deepInclude(JSON.parse((await send(url, '{"n":1}')).text), { ok: true, duplicate: false })
  assert.deepInclude(JSON.parse((await send(url, '{"n":1}')).text), { ok: true, duplicate: true })
  assert.strictEqual((await cabinet.feed(source.id)).length, 3)
})
