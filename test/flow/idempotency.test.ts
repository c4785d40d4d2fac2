/** Requests of the management API with an `Idempotency-Key`, and forms of the console, sent to two processes of one cabinet. */
import { createHash, randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { describedBy } from "../../packages/http-node/test/support/DescribedResponse.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { rawSession } from "../support/rawSession.ts"

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

it("one of many concurrent requests to two processes does the work", async () => {
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

it("a key is refused for a different request, and counts separately for each person and day", async () => {
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

it("a person's key differs from that of the token with the same number", async () => {
  const [{ id }] = (await database.run("SELECT id FROM cabinet.access_token WHERE name = 'ann'")) as [any]
  const secret = `dcs_${randomBytes(32).toString("base64url")}`
  const fingerprint = createHash("sha256").update(secret).digest("hex")
  await database.run(`INSERT INTO cabinet.person (id, name, role) OVERRIDING SYSTEM VALUE VALUES (${id}, 'Namesake', 'editor')
    ON CONFLICT (id) DO UPDATE SET role = 'editor'`)
  await database.run(`INSERT INTO cabinet.session (person_id, fingerprint, method, expires_at)
    VALUES (${id}, '\\x${fingerprint}', 'link', cabinet.now() + interval '1 day')`)
  const body = { name: "Namesake" }
  const first = await post("keys", "namesake", body)
  const sent = await fetch(`${bases[0]}/manage/v1/keys`, {
    method: "POST",
    headers: {
      cookie: `cabinet=${secret}`,
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
      "idempotency-key": "namesake",
    },
    body: JSON.stringify(body),
  })
  const json = (await sent.json()) as any
  assert.deepStrictEqual([first.status, sent.status], [201, 201], JSON.stringify(json))
  assert.notStrictEqual(json.id, first.json.id)
  await database.run(`DELETE FROM cabinet.session WHERE person_id = ${id}`)
})

it("a refusal or missing rights do not count as the first response, and malformed keys are refused", async () => {
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

it("an action that cannot be completed is not done, stays open in the audit log, and may be sent again", async () => {
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

/** The secret fields of responses. */
const SECRETS = ["key", "token", "link", "secret", "intake_url", "intake_path", "password"]

const propertiesOf = (document: any, { responses }: any): ReadonlyArray<string> => {
  const schema = (responses["201"] ?? responses["200"])?.content?.["application/json"]?.schema
  const name = schema?.$ref?.slice("#/components/schemas/".length)
  return Object.keys((name === undefined ? schema : document.components.schemas[name])?.properties ?? {})
}

it("every request that creates a secret creates it once, and its repeat shows none", async () => {
  const headers = { authorization: `Bearer ${tokens["ann"]}` }
  const document = (await (await fetch(`${bases[0]}/manage/v1/openapi.json`, { headers })).json()) as any
  const { id: address } = (await post("addresses", "made-address", { url: "http://127.0.0.1:9/made" })).json
  const { id: source } = await cabinets[0]!.sources.create({ name: "Made" })
  const { id: key } = await cabinets[0]!.keys.create({ name: "Rotated" })
  const { id: person } = (await post("people", "made-person", { name: "Made", role: "viewer" })).json
  const requests: Readonly<Record<string, readonly [path: string, body?: object]>> = {
    addSource: ["sources", { name: "Made, too" }],
    rotateSourceSecret: [`sources/${source}/rotate-secret?keep_old_seconds=60`],
    issueKey: ["keys", { name: "Made" }],
    rotateKey: [`keys/${key}/rotate`],
    issueToken: ["tokens", { name: "Made", role: "reader", only: ["sources.made"] }],
    invitePerson: ["people", { name: "Made, too", role: "editor" }],
    linkPerson: [`people/${person}/link`],
    addAddress: ["addresses", { url: "http://127.0.0.1:9/made?token=hush-hush" }],
    rotateAddressSecret: [`addresses/${address}/rotate-secret`],
  }
  const acts = async () => (await database.run("SELECT FROM cabinet.audit")).length
  const tried = new Set<string>()
  for (const operation of Object.values<any>(document.paths).map((methods) => methods.post)) {
    if (!SECRETS.some((name) => operation !== undefined && propertiesOf(document, operation).includes(name))) continue
    const { operationId: name } = operation
    const isOnce = operation.parameters.some(({ name: parameter }: any) => parameter === "Idempotency-Key")
    // Shows an existing secret, and creates nothing.
    assert.strictEqual(isOnce, !name.startsWith("reveal"), name)
    // The login for reports needs a database that listens: test/fault/reports.test.ts.
    if (!isOnce || name === "issueReportLogin") continue
    const [path, body] = requests[name]!
    const first = await post(path, `made-${name}`, body)
    assert.deepStrictEqual([first.status, first.replayed], [201, null], name)
    const before = await acts()
    // The unique part of a link or an intake address.
    const hidden = SECRETS.flatMap((field) => (field in first.json ? [first.json[field].slice(-20)] : []))
    assert.isNotEmpty(hidden, name)
    for (const at of [0, 1]) {
      const again = await post(path, `made-${name}`, body, { at })
      assert.deepStrictEqual([again.status, again.replayed, again.json.id], [200, "true", first.json.id], name)
      for (const field of SECRETS) assert.notProperty(again.json, field, name)
      for (const secret of [...hidden, "hush-hush"]) assert.notInclude(again.text, secret, name)
    }
    assert.strictEqual(await acts(), before, name)
    const kept = JSON.stringify(await database.run("SELECT i::text AS record FROM cabinet.idempotency i"))
    for (const secret of [...hidden, "hush-hush"]) assert.notInclude(kept, secret, name)
    tried.add(name)
  }
  assert.sameMembers([...tried], Object.keys(requests))
})

/** A form of the console, as a browser sends it. */
const press = async (path: string, form: Readonly<Record<string, string>> | string, { as = "ann", at = 0 } = {}) => {
  const response = await fetch(`${bases[at]}/console/${path}`, {
    method: "POST",
    redirect: "manual",
    headers: {
      authorization: `Bearer ${tokens[as]}`,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams(form).toString(),
  })
  return { status: response.status, location: response.headers.get("location"), text: await response.text() }
}

/** The number of the form that a screen shows for this path. */
const formId = async (screen: string, path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${tokens["ann"]}` }
  const text = await (await fetch(`${bases[0]}/console/${screen}`, { headers })).text()
  const form = new RegExp(`action="[^"]*/console/${path}"[^>]*><input type="hidden" name="form_id" value="([^"]+)"`)
  return form.exec(text)![1]!
}

it("a form of the console that is pressed many times at once over two processes is done once", async () => {
  const form = { form_id: await formId("integrations", "keys"), name: "Pressed", lifetime: "" }
  const all = await Promise.all(Array.from({ length: 16 }, (_, i) => press("keys", form, { at: i % 2 })))
  const [first, ...more] = all.filter(({ status }) => status === 200)
  assert.deepStrictEqual([more, await countOf("api_key", "Pressed")], [[], 1])
  const key = /value="(dck_[^"]+)"/.exec(first!.text)![1]!
  for (const at of [0, 1]) all.push(await press("keys", form, { at }))
  for (const { status, location, text } of all.filter((one) => one !== first)) {
    assert.deepStrictEqual([status, location, text], [303, "/console/integrations", ""])
  }
  assert.strictEqual(await countOf("api_key", "Pressed"), 1)
  const kept = JSON.stringify(await database.run("SELECT i::text AS record FROM cabinet.idempotency i"))
  for (const hidden of [key, form.form_id, "Pressed"]) assert.notInclude(kept, hidden)

  assert.strictEqual((await press("keys", { ...form, form_id: await formId("integrations", "keys") })).status, 200)
  assert.strictEqual((await press("keys", { ...form, name: "Pressed, too" })).status, 200)
  assert.strictEqual((await press("keys", form, { as: "bob" })).status, 200)
  const { form_id: _, ...program } = form
  for (let time = 0; time < 2; time++) assert.strictEqual((await press("keys", program)).status, 200)
  assert.strictEqual(await countOf("api_key", "Pressed"), 5)
  assert.strictEqual((await press("keys", form, { as: "viewer" })).status, 403)
})

it("a form's number must be well-formed, and a refused form may be sent again", async () => {
  const id = await formId("integrations", "keys")
  const twice = `form_id=${id}&form_id=${id}&name=Numbered`
  for (const form of ["form_id=&name=Numbered", `form_id=${id}'&name=Numbered`, "form_id=1&name=Numbered", twice]) {
    const refused = await press("keys", form)
    assert.deepStrictEqual([refused.status, /<code>form_id</.test(refused.text)], [400, true], form)
  }
  assert.strictEqual((await press("keys", { form_id: id, name: " " })).status, 400)
  assert.strictEqual((await press("keys", { form_id: id, name: " " })).status, 400)
  assert.strictEqual(await countOf("api_key", "Numbered"), 0)
  assert.strictEqual((await press("keys", { form_id: id, name: "Numbered" })).status, 200)
})

it("every form that creates, sends or replaces something acts once, and one that sets something acts each time", async () => {
  const form_id = crypto.randomUUID()
  const rows = async (table: string) => (await database.run(`SELECT FROM cabinet.${table}`)).length
  const { id } = (await post("addresses", "once", { url: "http://127.0.0.1:9/once" })).json
  const source = await cabinets[0]!.sources.create({ name: "Once" })
  const person = (await post("people", "once-person", { name: "Once", role: "viewer" })).json
  const { id: poll } = (await post("polls", "once-poll", { source_id: source.id, url: "http://127.0.0.1:9/" })).json
  const from = "2020-01-01T00:00"
  const range = { from, to: "2020-01-02T00:00", only: "all" }
  const once: ReadonlyArray<readonly [path: string, fields: Record<string, string>, table: string]> = [
    ["sources", { name: "Form" }, "source"],
    ["addresses", { url: "http://127.0.0.1:9/form", scope: "all" }, "address"],
    ["people", { name: "Form", role: "viewer" }, "person"],
    [`people/${person.id}/link`, {}, "audit"],
    ["tokens", { name: "Form", role: "viewer" }, "access_token"],
    ["polls", { url: "http://127.0.0.1:9/form", source_id: String(source.id), every: "1h" }, "poll"],
    [`polls/${poll}/run`, {}, "poll_run"],
    ["views", { title: "Form", schema: "sources", name: source.table!.name, query: "" }, "saved_view"],
    [`addresses/${id}/ping`, {}, "delivery_all"],
    [`addresses/${id}/rotate`, {}, "audit"],
    [`addresses/${id}/resend`, { ...range, confirm: "yes" }, "audit"],
    [`sources/${source.id}/rotate`, {}, "audit"],
  ]
  for (const [path, fields, table] of once) {
    const before = await rows(table)
    const first = await press(path, { form_id, ...fields })
    assert.include([200, 303], first.status, `${path} ${first.text}`)
    const between = await rows(table)
    assert.isAbove(between, before, path)
    const again = await press(path, { form_id, ...fields }, { at: 1 })
    assert.deepStrictEqual([again.status, again.text, await rows(table)], [303, "", between], path)
    assert.notInclude(again.location, form_id)
  }
  const counted = await press(`addresses/${id}/resend`, { form_id, ...range })
  assert.strictEqual((await press(`addresses/${id}/resend`, { form_id, ...range })).status, counted.status)
  assert.strictEqual(counted.status, 200)
  for (const act of ["pause", "resume", "pause"]) await press(`addresses/${id}/${act}`, { form_id })
  assert.isNotNull((await cabinets[0]!.addresses.get(id)).pausedAt)
})

it("while a form waits, repeats of it get a response, and other changes do not wait", async () => {
  const form = { form_id: crypto.randomUUID(), name: "Waiting", lifetime: "" }
  await database.run(`CREATE FUNCTION cabinet.wait() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN IF NEW.name = 'Waiting' THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN NEW; END $$`)
  await database.run(
    "CREATE TRIGGER wait BEFORE INSERT ON cabinet.api_key FOR EACH ROW EXECUTE FUNCTION cabinet.wait()",
  )
  const holder = await rawSession(database)
  await holder.executeWithoutSync("SELECT pg_advisory_xact_lock(4711)")
  const first = press("keys", form)
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
  await expect.poll(async () => (await database.run(waiting)).length).toBe(1)
  const others = await Promise.all(Array.from({ length: 8 }, (_, i) => press("keys", form, { at: i % 2 })))
  assert.deepStrictEqual([...new Set(others.map(({ status }) => status))], [303])
  const changes = Array.from({ length: 4 }, (_, i) => press("sources", { name: `Beside ${i}` }))
  assert.deepStrictEqual([...new Set((await Promise.all(changes)).map(({ status }) => status))], [303])
  holder.end()
  assert.strictEqual((await first).status, 200)
  await database.run("DROP TRIGGER wait ON cabinet.api_key")
  assert.strictEqual(await countOf("api_key", "Waiting"), 1)
})
