/** Requests of the management API with an `Idempotency-Key`, sent to two processes of one cabinet. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { describedBy } from "../../packages/http-node/test/support/DescribedResponse.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
const cabinets: Array<Cabinet> = []
const servers: Array<Server> = []
const bases: Array<string> = []
const tokens: Record<string, string> = {}
let described: ReturnType<typeof describedBy>

beforeAll(async () => {
  database = await testDatabase()
  for (let i = 0; i < 2; i++) {
    const cabinet = await openCabinet({ databaseUrl: database.url, delivery: false, allowedNetworks: ["127.0.0.0/8"] })
    const server = createServer(cabinet.nodeHandler)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    cabinets.push(cabinet)
    servers.push(server)
    bases.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  for (const name of ["ann", "bob"]) {
    tokens[name] = (await cabinets[0]!.tokens.create({ name, role: "owner" })).token
  }
  tokens["viewer"] = (await cabinets[0]!.tokens.create({ name: "viewer", role: "viewer" })).token
  const headers = { authorization: `Bearer ${tokens["ann"]}` }
  described = describedBy((await (await fetch(`${bases[0]}/manage/v1/openapi.json`, { headers })).json()) as any)
})
afterAll(async () => {
  for (const server of servers) server.close()
  for (const cabinet of cabinets) await cabinet.close()
  await database.drop()
})

interface Sent {
  readonly as?: string
  readonly at?: number
  readonly text?: string
}

const post = async (path: string, key: string, body: unknown, { as = "ann", at = 0, text }: Sent = {}) => {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${bases[at]}/manage/v1/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens[as]}`,
      "idempotency-key": key,
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const answer = { status: response.status, headers: response.headers, text: await response.text() }
  described.assertDescribed("POST", `/manage/v1/${path}`, answer)
  const json = JSON.parse(answer.text) as any
  return {
    status: answer.status,
    text: answer.text,
    json,
    code: json.error?.code,
    replayed: response.headers.get("idempotent-replay"),
  }
}

const countOf = async (table: string, name: string): Promise<number> =>
  Number((await database.run(`SELECT count(*) FROM cabinet.${table} WHERE name = '${name}'`))[0]!["count"])

it("a repeat does nothing and gets the first response without its secrets", async () => {
  const creations = [
    ["keys", "api_key", { name: "Again" }, "key"],
    ["tokens", "access_token", { name: "Again", role: "reader" }, "token"],
    ["sources", "source", { name: "Again" }, "intake_url"],
    ["people", "person", { name: "Again", role: "viewer" }, "link"],
  ] as const
  for (const [path, table, body, secret] of creations) {
    const first = await post(path, `create ${path}`.replace(" ", "-"), body)
    assert.deepStrictEqual([first.status, first.replayed], [201, null], path)
    assert.isString(first.json[secret])
    for (const at of [0, 1]) {
      const again = await post(path, `create-${path}`, body, { at })
      assert.deepStrictEqual([again.status, again.replayed, again.json.id], [200, "true", first.json.id], path)
      assert.notInclude(again.text, first.json[secret].slice(-20))
    }
    assert.strictEqual(await countOf(table, "Again"), 1, path)
    const kept = JSON.stringify(await database.run("SELECT i::text AS record FROM cabinet.idempotency i"))
    for (const value of [first.json[secret], first.json.intake_path ?? "/webhook/", `create-${path}`]) {
      assert.notInclude(kept, value)
    }
  }
})

it("records of addresses and polls keep no secret of a third party, and work is done once", async () => {
  const body = { url: "http://127.0.0.1:9/hook?token=hush-hush" }
  const address = await post("addresses", "address", body)
  assert.strictEqual(address.status, 201)
  const again = await post("addresses", "address", body)
  assert.deepStrictEqual([again.status, again.json.id], [200, address.json.id])
  assert.notProperty(again.json, "secret")
  const poll = {
    source_id: 1,
    url: "http://127.0.0.1:9/?key=hush-hush",
    headers: [{ name: "X-T", value: "hush-hush" }],
  }
  assert.strictEqual((await post("polls", "poll", poll)).status, 201)
  const repeated = await post("polls", "poll", poll)
  assert.deepStrictEqual([repeated.status, repeated.replayed], [201, "true"])
  const ping = await post(`addresses/${address.json.id}/ping`, "ping", undefined)
  assert.deepStrictEqual(
    (await post(`addresses/${address.json.id}/ping`, "ping", undefined, { at: 1 })).json,
    ping.json,
  )
  const [{ count }] = (await database.run("SELECT count(*)::int AS count FROM cabinet.delivery_all")) as [any]
  assert.strictEqual(count, 1)
  const fields = { fields: { a: "1" } }
  const event = await post("sources/1/test-event", "event", fields)
  assert.deepStrictEqual((await post("sources/1/test-event", "event", fields)).json, event.json)
  const kept = JSON.stringify(await database.run("SELECT i::text AS record FROM cabinet.idempotency i"))
  assert.notInclude(kept, "hush-hush")
  assert.notInclude(kept, address.json.secret)
})

it("of many concurrent requests over two processes one does the work", async () => {
  for (let round = 0; round < 5; round++) {
    const name = `Raced ${round}`
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, i) => post("keys", `race-${round}`, { name }, { at: i % 2 })),
    )
    assert.strictEqual(all.filter(({ status }) => status === 201).length, 1)
    for (const { status, code } of all) assert.include(["201 ", "200 ", "409 in_progress"], `${status} ${code ?? ""}`)
    assert.strictEqual(await countOf("api_key", name), 1)
    assert.strictEqual((await post("keys", `race-${round}`, { name }, { at: 1 })).replayed, "true")
  }
})

it("the same key is another key for another request, another person and another day", async () => {
  const body = { name: "Mine" }
  const first = await post("keys", "shared", body)
  for (const other of [{ name: "Other" }, { name: "Mine", expires_in_seconds: 3600 }]) {
    const refused = await post("keys", "shared", other)
    assert.deepStrictEqual([refused.status, refused.code], [422, "idempotency_mismatch"])
  }
  assert.strictEqual((await post("keys", "shared", body, { text: '{ "name":"Mine"}' })).status, 422)
  assert.strictEqual((await post("sources", "shared", body)).status, 422)
  const bob = await post("keys", "shared", body, { as: "bob" })
  assert.strictEqual(bob.status, 201)
  assert.notStrictEqual(bob.json.id, first.json.id)
  await database.run("UPDATE cabinet.clock SET shift = '23:59'")
  assert.strictEqual((await post("keys", "shared", body)).status, 200)
  await database.run("UPDATE cabinet.clock SET shift = '24:01'")
  assert.strictEqual((await post("keys", "shared", body)).status, 201)
  assert.strictEqual(await countOf("api_key", "Mine"), 3)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

it("a refusal and a lack of rights are no first response, and keys have a form", async () => {
  assert.strictEqual((await post("keys", "refused", { name: "" })).status, 400)
  assert.strictEqual((await post("keys", "refused", { name: "Now" })).status, 201)
  const nowhere = await post("polls", "late", { source_id: 98_765, url: "http://127.0.0.1:9/" })
  assert.strictEqual(nowhere.code, "no_such_source")
  assert.strictEqual((await post("polls", "late", { source_id: 1, url: "http://127.0.0.1:9/" })).status, 201)
  assert.strictEqual((await post("sources/98765/test-event", "none", { fields: { a: "1" } })).code, "no_such_source")
  assert.strictEqual((await post("sources/1/test-event", "none", { fields: { a: "9" } })).status, 201)
  assert.strictEqual((await post("keys", "refused", { name: "Now" }, { as: "viewer" })).status, 403)
  for (const key of ["x".repeat(256), "two words", "k\u00e9y", ""]) {
    assert.strictEqual((await post("keys", key, { name: "Form" })).code, "bad_idempotency_key", key)
  }
  assert.strictEqual((await post("keys", "'; DROP".replace(" ", "--"), { name: "Form" })).status, 201)
  assert.strictEqual((await post("keys", "x".repeat(255), { name: "Form" })).status, 201)
})

it("an act that cannot be completed is not done, is open in the audit log, and may be sent again", async () => {
  await database.run(`CREATE FUNCTION cabinet.refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'full' USING ERRCODE = '53100'; END $$`)
  const source = await cabinets[0]!.sources.create({ name: "Polled" })
  const acts = [
    ["keys", { name: "Atomic" }, "api_key"],
    ["tokens", { name: "Atomic", role: "viewer" }, "access_token"],
    ["people", { name: "Atomic", role: "viewer" }, "person"],
    ["sources", { name: "Atomic" }, "source"],
    ["addresses", { url: "http://127.0.0.1:9/again" }, "address"],
    ["polls", { source_id: source.id, url: "http://127.0.0.1:9/again" }, "poll"],
  ] as const
  const rows = async (table: string) => (await database.run(`SELECT FROM cabinet.${table}`)).length
  const tables = () =>
    database.run("SELECT relname::text FROM pg_class WHERE relnamespace = 'sources'::regnamespace ORDER BY 1")
  for (const [i, on] of ["cabinet.idempotency", "cabinet.audit"].entries()) {
    for (const [path, some, table] of acts) {
      const body = "name" in some ? { ...some, name: `Atomic ${i}` } : some
      const where = `${path} ${on}`
      const before = [await rows(table), await tables()]
      await database.run(`CREATE TRIGGER refuse BEFORE UPDATE ON ${on} FOR EACH ROW EXECUTE FUNCTION cabinet.refuse()`)
      const refused = await post(path, `atomic-${path}-${i}`, body)
      await database.run(`DROP TRIGGER refuse ON ${on}`)
      assert.deepStrictEqual([refused.status, refused.code], [503, "unavailable"], where)
      assert.deepStrictEqual([await rows(table), await tables()], before, where)
      const [entry] = await database.run("SELECT outcome FROM cabinet.audit ORDER BY id DESC LIMIT 1")
      assert.deepStrictEqual(entry, { outcome: null }, where)
      assert.strictEqual((await post(path, `atomic-${path}-${i}`, body)).status, 201, where)
    }
  }
})

it("an open record is in progress for a minute, and of unknown outcome for the rest of a day", async () => {
  const body = { name: "Lost" }
  await post("keys", "lost", body)
  await database.run(
    "UPDATE cabinet.idempotency SET response = NULL WHERE id = (SELECT max(id) FROM cabinet.idempotency)",
  )
  assert.strictEqual((await post("keys", "lost", body)).code, "in_progress")
  await database.run("UPDATE cabinet.clock SET shift = '61 s'")
  const unknown = await post("keys", "lost", body)
  assert.deepStrictEqual([unknown.status, unknown.code], [409, "outcome_unknown"])
  await database.run("UPDATE cabinet.clock SET shift = '25 hours'")
  assert.strictEqual((await post("keys", "lost", body)).status, 201)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})
