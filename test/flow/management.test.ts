/**
 * The management API over a real cabinet: every endpoint against every kind of credentials, its errors, and its responses
 * compared with its own description.
 */
import { createHash, randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Action, mayDo, PERSON_ROLES, type PersonRole, ROLES, type Role } from "@data-cabinet/core/key/Role"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { describedBy } from "../../packages/http-node/test/support/DescribedResponse.ts"
import { Authority } from "../support/certificates.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { type Random, randomOf, seeded } from "../support/random.ts"

let database: TestDatabase
let cabinet: Cabinet
let server: Server
let base: string
let document: any
let described: ReturnType<typeof describedBy>
const tokens = new Map<Role, string>()
const authority = new Authority("clients")
const certified = authority.issue("cabinet")
authority.remove()

const listen = async (handler: Cabinet["nodeHandler"]) => {
  const created = createServer(handler)
  await new Promise<void>((resolve) => created.listen(0, "127.0.0.1", resolve))
  return [created, `http://127.0.0.1:${(created.address() as AddressInfo).port}`] as const
}

beforeAll(async () => {
  database = await testDatabase()
  const networks = { allowedNetworks: ["127.0.0.0/8"], trustedProxies: ["127.0.0.0/8"] }
  cabinet = await openCabinet({ databaseUrl: database.url, delivery: false, ...networks })
  ;[server, base] = await listen(cabinet.nodeHandler)
  for (const role of ROLES) tokens.set(role, (await cabinet.tokens.create({ name: role, role })).token)
  document = JSON.parse((await ask("GET", "openapi.json", { as: "reader" })).text)
  described = describedBy(document)
})
afterAll(async () => {
  server.close()
  await cabinet.close()
  await database.drop()
})

interface Sent {
  /** A role, or credentials. */
  readonly as?: Role | { readonly authorization: string } | null
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly at?: string
}

const ask = async (method: string, path: string, { as = "owner", body, text, headers, at = base }: Sent = {}) => {
  const credentials =
    as === null ? {} : typeof as === "string" ? { authorization: `Bearer ${tokens.get(as)}` } : { ...as }
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${at}/manage/v1/${path}`, {
    method,
    headers: { ...credentials, ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const answer = { status: response.status, headers: response.headers, text: await response.text() }
  if (described !== undefined && response.status !== 405) {
    described.assertDescribed(method, `/manage/v1/${path}`, answer)
  }
  const json = (answer.headers.get("content-type") ?? "").startsWith("application/json")
  return { ...answer, json: (json && answer.text !== "" ? JSON.parse(answer.text) : undefined) as any }
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly node: any
}

const operations = (): ReadonlyArray<Operation> =>
  Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, node]) => ({ method: method.toUpperCase(), path, node })),
  )

/** A URL of the operation for an object that does not exist. */
const nowhere = ({ path }: Operation): string =>
  path
    .replace("/manage/v1/", "")
    .replace("{id}", "9007199254740991")
    .replaceAll(/\{\w+\}/g, "nowhere")

let clients = 0
/** A new client address, because the wrong credentials of one address are limited per minute. */
const newClient = () => ({ "x-forwarded-for": `198.51.100.${++clients}` })

it("every endpoint is open to exactly the credentials in the table of actions", async () => {
  const key = (await cabinet.keys.create({ name: "reader" })).key
  const revoked = await cabinet.tokens.create({ name: "revoked", role: "owner" })
  await cabinet.tokens.revoke(revoked.id)
  const expired = await cabinet.tokens.create({ name: "expired", role: "owner", expiresInSeconds: 60 })
  await database.run(`UPDATE cabinet.access_token SET expires_at = cabinet.now() WHERE id = ${expired.id}`)
  const { table } = await cabinet.sources.create({ name: "Listed" })
  const only = [`${table!.schema}.${table!.name}`]
  const listed = await cabinet.tokens.create({ name: "listed", role: "reader", only })
  const bearers = [key, revoked.token, expired.token, `dco_${"A".repeat(43)}`, "nonsense"]
  assert.isAbove(operations().length, 45)
  for (const operation of operations()) {
    const { method, node } = operation
    const where = `${method} ${operation.path}`
    const client = newClient()
    const send = (as: Sent["as"]) =>
      ask(method, nowhere(operation), { as: as!, headers: client, ...(node.requestBody ? { body: {} } : {}) })
    assert.strictEqual((await send(null)).status, 401, where)
    for (const bearer of bearers) {
      const refused = await send({ authorization: `Bearer ${bearer}` })
      assert.deepStrictEqual([refused.status, refused.json.error.type], [401, "unauthorized"], where)
      assert.isNull(refused.headers.get("x-ratelimit-limit"), where)
    }
    const narrowed = await send({ authorization: `Bearer ${listed.token}` })
    assert.deepStrictEqual([narrowed.status, narrowed.json.error.code], [403, "role_missing"], where)
    for (const role of ROLES) {
      const { status, json, headers } = await send(role)
      const allowed = mayDo(role, node["x-action"] as Action)
      assert.strictEqual(status === 403, !allowed, `${where} as ${role}: ${status}`)
      if (!allowed) assert.strictEqual(json.error.code, "role_missing")
      assert.isBelow(status, 500, `${where} as ${role}`)
      assert.strictEqual(headers.get("x-ratelimit-limit"), "300", where)
    }
  }
})

/** The cookies of sessions of new persons; `over` says why they are no longer valid. */
const sessions = async (role: PersonRole, count: number, over: "" | "expired" | "idle" | "ended" = "") => {
  const secrets = Array.from({ length: count }, () => `dcs_${randomBytes(32).toString("base64url")}`)
  const made = secrets.map(
    (secret) => `('${secret}', '\\x${createHash("sha256").update(secret).digest("hex")}'::bytea)`,
  )
  const [expires, seen] = [over === "expired" ? "-1 s" : "1 day", over === "idle" ? "12 hours" : "0"]
  await database.run(`WITH made (name, fingerprint) AS (VALUES ${made.join(", ")}),
    who AS (INSERT INTO cabinet.person (name, role) SELECT name, '${role}' FROM made RETURNING id, name)
    INSERT INTO cabinet.session (person_id, fingerprint, method, expires_at, last_seen_at)
    SELECT who.id, made.fingerprint, 'link', cabinet.now() + interval '${expires}', cabinet.now() - interval '${seen}'
    FROM who JOIN made USING (name)`)
  if (over === "ended") {
    await database.run(`DELETE FROM cabinet.session USING cabinet.person
      WHERE person.id = session.person_id AND person.name IN (${secrets.map((secret) => `'${secret}'`).join(", ")})`)
  }
  return secrets.map((secret) => ({ cookie: `cabinet=${secret}` }))
}

it("every endpoint is open to exactly the sessions in the table of actions, from a page of the same origin", async () => {
  const none = [
    { cookie: "cabinet=nonsense" },
    { cookie: `cabinet=dcs_${"A".repeat(43)}` },
    ...(await sessions("owner", 1, "expired")),
    ...(await sessions("owner", 1, "idle")),
    ...(await sessions("owner", 1, "ended")),
  ]
  // A new session for each call, because some calls end it.
  const cookies = new Map<PersonRole, Array<{ readonly cookie: string }>>()
  for (const role of PERSON_ROLES) cookies.set(role, await sessions(role, operations().length))
  for (const operation of operations()) {
    const { method, node } = operation
    const where = `${method} ${operation.path}`
    const client = newClient()
    const send = (sent: Record<string, string>) => {
      const headers = { ...client, ...sent }
      return ask(method, nowhere(operation), { as: null, headers, ...(node.requestBody ? { body: {} } : {}) })
    }
    for (const cookie of none) {
      const refused = await send({ ...cookie, "sec-fetch-site": "same-origin" })
      assert.deepStrictEqual([refused.status, refused.json.error.type], [401, "unauthorized"], where)
    }
    for (const role of PERSON_ROLES) {
      const cookie = cookies.get(role)!.pop()!
      if (method !== "GET") {
        const foreign = await send({ ...cookie, "sec-fetch-site": "same-site" })
        assert.deepStrictEqual([foreign.status, foreign.json.error.code], [403, "cross_origin"], `${where} as ${role}`)
      }
      const { status, json, headers } = await send({ ...cookie, "sec-fetch-site": "same-origin" })
      const allowed = mayDo(role, node["x-action"] as Action)
      assert.strictEqual(json?.error?.code === "role_missing", !allowed, `${where} as ${role}: ${status}`)
      assert.isBelow(status, 500, `${where} as ${role}`)
      assert.strictEqual(headers.get("x-ratelimit-limit"), "1200", where)
    }
  }
}, 600_000)

it("a method that a path does not support is 405 with those it does, before credentials", async () => {
  const refused = await ask("PUT", "sources", { as: null })
  assert.deepStrictEqual([refused.status, refused.headers.get("allow")], [405, "GET, POST"])
  assert.strictEqual(refused.json.error.code, "method_not_allowed")
  const unknown = await ask("GET", "sauces", { as: null })
  assert.deepStrictEqual([unknown.status, unknown.json.error.code], [404, "no_such_endpoint"])
  const head = await ask("HEAD", "sources")
  assert.deepStrictEqual([head.status, head.text], [200, ""])
})

it("checks go in the documented order, each with its own code and parameter", async () => {
  const error = async (...call: Parameters<typeof ask>) => {
    const { status, json } = await ask(...call)
    return [status, json.error.code, json.error.param]
  }
  const path = "sources/0?x=1"
  assert.deepStrictEqual(await error("PATCH", path, { as: null, text: "{" }), [401, "unauthorized", null])
  assert.deepStrictEqual(await error("PATCH", path, { as: "viewer", text: "{" }), [403, "role_missing", null])
  assert.deepStrictEqual(await error("PATCH", path, { text: "{" }), [400, "bad_id", "id"])
  assert.deepStrictEqual(await error("PATCH", "sources/1?x=1", { text: "{" }), [400, "unknown_param", "x"])
  const plain = { text: "{", headers: { "content-type": "text/plain" } }
  assert.deepStrictEqual(await error("PATCH", "sources/1", plain), [415, "unsupported_media_type", null])
  const large = { text: `{"name":"${"x".repeat(1_048_576)}"}` }
  assert.deepStrictEqual(await error("PATCH", "sources/1", large), [413, "too_large", null])
  assert.deepStrictEqual(await error("PATCH", "sources/1", { text: '{"name":}' }), [400, "bad_json", null])
  assert.deepStrictEqual(await error("PATCH", "sources/1", { body: { name: 1 } }), [400, "bad_body", "/name"])
  assert.deepStrictEqual(await error("PATCH", "sources/1", { body: { "a/b~": 1 } }), [400, "unknown_field", "/a~1b~0"])
  assert.deepStrictEqual(await error("PATCH", "sources/987", { body: {} }), [404, "no_such_source", "id"])
  assert.deepStrictEqual(await error("GET", "imports?limit=0"), [400, "bad_param", "limit"])
  assert.deepStrictEqual(await error("GET", "imports?limit=1&limit=2"), [400, "bad_param", "limit"])
  assert.deepStrictEqual(await error("DELETE", "sources/1"), [400, "bad_param", "table"])
  const { json } = await ask("PATCH", "sources/1", { text: '{\n"name":}' })
  assert.match(json.error.message, /line 2, column 8/)
})

it("an address is refused with 409 if its source has the maximum", async () => {
  const { id } = (await ask("POST", "sources", { as: "editor", body: { name: "Full" } })).json
  const filters = [{ fc: "total", fo: "eq", fv: "1" }]
  await database.run(`
    WITH made AS (
      INSERT INTO cabinet.address (url, secret, every_source, filters)
      SELECT 'http://127.0.0.1:9/' || n, 'whsec_', false, '${JSON.stringify(filters)}' FROM generate_series(1, 1000) n RETURNING id
    )
    INSERT INTO cabinet.address_source (address_id, source_id) SELECT id, ${id} FROM made`)
  const body = { url: "http://127.0.0.1:9/hook", sources: [id], filters }
  const refused = await ask("POST", "addresses", { as: "editor", body })
  assert.strictEqual(refused.status, 409)
  assert.deepInclude(refused.json.error, { type: "conflict", code: "too_many_addresses", param: "/sources" })
  assert.match(refused.json.error.message, /^Source \d+ has 1,000 addresses with a filter/)
  await database.run(`UPDATE cabinet.address SET removed_at = cabinet.now() WHERE url LIKE 'http://127.0.0.1:9/%'`)
})

it("sources, keys and addresses are created, changed, shown and removed, and secrets only on request", async () => {
  const made = await ask("POST", "sources", { as: "editor", body: { name: "Orders", encoding: "utf-8" } })
  assert.strictEqual(made.status, 201)
  const { id, intake_url, table } = made.json
  assert.deepInclude(table, { schema: "sources", name: "orders" })
  const sent = await fetch(intake_url.replace("http://127.0.0.1:8080", base), {
    method: "POST",
    body: '{"total":1.50}',
  })
  assert.strictEqual(sent.status, 200)
  const event = ((await sent.json()) as any).id
  assert.notInclude((await ask("GET", "sources", { as: "viewer" })).text, "intake_url")
  const revealed = await ask("POST", `sources/${id}/reveal`, { as: "editor" })
  assert.strictEqual(revealed.json.intake_url, intake_url)
  const changed = await ask("PATCH", `sources/${id}`, { body: { name: "Sales", archived: true } })
  assert.deepInclude(changed.json, { name: "Sales", archived: true, encoding: "utf-8" })
  await ask("PATCH", `sources/${id}`, { body: { archived: false } })

  const test = await ask("POST", `sources/${id}/test-event`, {
    as: "editor",
    body: { fields: { total: "1000000001541251213.50", note: "тест" } },
  })
  assert.deepInclude(test.json, { duplicate: false, empty: false })
  const nobody = await ask("POST", "sources/987/test-event", { as: "editor", body: { fields: { a: "1" } } })
  assert.deepStrictEqual([nobody.status, nobody.json.error.param], [404, "id"])
  const count = await ask("GET", "tables/sources/orders/count", { as: "reader" })
  assert.deepStrictEqual(count.json, { count: 2, at_least: false })
  const few = await ask("GET", "tables/sources/orders/count?fc=note&fo=notempty", { as: "reader" })
  assert.deepStrictEqual(few.json, { count: 1, at_least: false })
  const facets = await ask("GET", "tables/sources/orders/facets?column=note", { as: "reader" })
  assert.deepInclude(facets.json, { column: "note", others: 0, rows: 2, exact: true })
  assert.deepInclude(facets.json.data, { value: "тест", count: 1 })
  assert.include((await ask("GET", "tables/sources/orders/facets?column=_event_id")).text, `"value":${event}`)
  const noColumn = await ask("GET", "tables/sources/orders/facets?column=nothing", { as: "reader" })
  assert.deepStrictEqual([noColumn.json.error.code, noColumn.json.error.param], ["unknown_column", "column"])
  const tables = await ask("GET", "tables", { as: "reader" })
  const ofKey = await cabinet.keys.create({ name: "tables" })
  const tablesTwin = await fetch(`${base}/api/v1/tables`, { headers: { authorization: `Bearer ${ofKey.key}` } })
  assert.deepStrictEqual(((await tablesTwin.json()) as any).data, tables.json.data)

  const rows = await ask("GET", "tables/sources/orders/rows?fc=total&fo=ge&fv=1", { as: "reader" })
  assert.include(rows.text, '"total":1.50')
  const twin = await cabinet.keys.create({ name: "twin" })
  const read = await fetch(`${base}/api/v1/tables/sources/orders/rows?fc=total&fo=ge&fv=1`, {
    headers: { authorization: `Bearer ${twin.key}` },
  })
  assert.strictEqual(await read.text(), rows.text)
  const feed = await ask("GET", "feed?limit=1", { as: "reader" })
  const twinFeed = await fetch(`${base}/api/v1/events?limit=1`, { headers: { authorization: `Bearer ${twin.key}` } })
  assert.strictEqual(await twinFeed.text(), feed.text)
  assert.strictEqual((await ask("GET", "feed?limit=x", { as: "reader" })).json.error.code, "bad_limit")

  const shown = await ask("GET", `events/${event}`, { as: "viewer" })
  assert.include(shown.text, '"payload":{"total":1.50}')
  assert.deepInclude(shown.json.original, { body: '{"total":1.50}', truncated: false })
  const original = await ask("GET", `events/${event}/original`, { as: "viewer" })
  assert.strictEqual(original.text, '{"total":1.50}')
  assert.strictEqual(original.headers.get("content-disposition"), "attachment")
  const [listed] = (await ask("GET", `events?source_id=${id}&text=1.50&limit=1`, { as: "viewer" })).json.data
  assert.deepInclude(listed, { id: event, state: "row", deliveries: { due: 0, delivered: 0, failed: 0, cancelled: 0 } })
  const trashed = await ask("POST", "events/trash", { as: "editor", body: { source_id: id, events: [event] } })
  const trash = await ask("GET", "events?state=trashed", { as: "viewer" })
  assert.deepInclude(trash.json.data[0], { id: event, trashed_by: { kind: "token", id: 2, name: "editor" } })
  assert.strictEqual((await ask("GET", "events?cursor=x", { as: "viewer" })).json.error.code, "bad_cursor")
  assert.deepStrictEqual(trashed.json, { count: 1 })
  assert.deepStrictEqual((await ask("POST", "events/restore", { body: { source_id: id, events: [event] } })).json, {
    count: 1,
  })
  const strangers = await ask("POST", "events/trash", { body: { source_id: id, events: [999_999] } })
  assert.deepStrictEqual([strangers.status, strangers.json.error.param], [404, "/events"])
  assert.strictEqual((await ask("POST", "events/purge", { body: { events: [event] } })).json.count, 1)

  const columns = await ask("GET", `sources/${id}/columns`, { as: "viewer" })
  assert.strictEqual(columns.json.data[0].name, "total")
  const column = await ask("PATCH", `sources/${id}/columns/total`, {
    as: "editor",
    body: { type: "text", label: "Sum" },
  })
  assert.deepInclude(column.json, { type: "text", label: "Sum", moved: 0 })
  assert.strictEqual((await ask("PATCH", `sources/${id}/columns/total`, { body: {} })).status, 400)

  const key = await ask("POST", "keys", { as: "editor", body: { name: "Reader", expires_in_seconds: 3600 } })
  assert.match(key.json.key, /^dck_/)
  assert.isString(key.json.expires_at)
  assert.notInclude((await ask("GET", "keys", { as: "viewer" })).text, key.json.key)
  assert.isString((await ask("POST", `keys/${key.json.id}/revoke`, { as: "editor" })).json.revoked_at)

  const address = await ask("POST", "addresses", {
    as: "editor",
    body: { url: "http://127.0.0.1:9/hook?token=hush", sources: [id], filters: [{ fc: "a", fo: "ge", fv: "1" }] },
  })
  assert.strictEqual(address.status, 201)
  assert.deepStrictEqual(address.json.filters, [{ fc: "a", fo: "ge", fv: "1" }])
  for (const [filters, code] of [
    [[{ fc: "", fo: "eq", fv: "" }], "bad_filter"],
    [[{ fc: "a", fo: "empty", fv: "1" }], "bad_fv"],
    [[{ fc: "a", fo: "like", fv: "1" }], "bad_body"],
    [[{ fc: "a", fo: "eq", fv: "1", more: 1 }], "unknown_field"],
    [Array.from({ length: 51 }, () => ({ fc: "a", fo: "eq", fv: "1" })), "bad_body"],
  ] as const) {
    const refusal = await ask("PATCH", `addresses/${address.json.id}`, { body: { filters } })
    assert.deepStrictEqual([refusal.status, refusal.json.error.code], [400, code])
    assert.match(refusal.json.error.param, /^\/filters/)
  }
  const headers = [{ name: "Authorization", value: "Bearer hush" }]
  const limits = { rate: 5, timeout_seconds: 3, give_up_after_seconds: 3600, pause_on_gone: true, paused_because: null }
  const { paused_because: _, ...settings } = limits
  const limited = await ask("PATCH", `addresses/${address.json.id}`, { as: "editor", body: { headers, ...settings } })
  assert.deepInclude(limited.json, { header_names: ["Authorization"], ...limits })
  assert.notInclude(limited.text, "Bearer")
  for (const [body, code, param] of [
    [{ headers: [{ name: "Host", value: "hush" }] }, "bad_header", "/headers"],
    [{ set_headers: [{ name: "Host", value: "hush" }] }, "bad_header", "/set_headers"],
    [{ remove_headers: ["Authorization"], headers: [] }, "bad_header", "/headers"],
    [{ remove_headers: Array.from({ length: 51 }, () => "X-A") }, "bad_body", "/remove_headers"],
    [{ client_identity: { certificate: "hush" } }, "bad_body", "/client_identity/key"],
    [{ client_identity: { certificate: "hush", key: "hush" } }, "bad_certificate", "/client_identity/certificate"],
    [{ client_identity: { certificate: certified.cert, key: "hush" } }, "bad_client_key", "/client_identity/key"],
    [{ client_identity: { certificate: "x".repeat(65_537), key: "" } }, "bad_body", "/client_identity/certificate"],
    [
      { url: "http://127.0.0.1:9/hook", client_identity: { certificate: certified.cert, key: certified.key } },
      "bad_certificate",
      "/client_identity/certificate",
    ],
    [{ rate: 0 }, "bad_body", "/rate"],
    [{ timeout_seconds: 16 }, "bad_body", "/timeout_seconds"],
    [{ give_up_after_seconds: 59 }, "bad_give_up", "/give_up_after_seconds"],
    [{ url: "http://127.0.0.1:10/" }, "headers_needed", "/headers"],
  ] as const) {
    const refusal = await ask("PATCH", `addresses/${address.json.id}`, { as: "editor", body })
    assert.deepStrictEqual([refusal.json.error.code, refusal.json.error.param], [code, param])
    assert.notInclude(refusal.text, "hush")
  }
  const identity = { certificate: certified.cert, key: certified.key }
  const place = { url: "https://127.0.0.1:9/hook", sources: [] }
  const identified = await ask("POST", "addresses", { as: "editor", body: { ...place, client_identity: identity } })
  assert.deepInclude(identified.json.client_certificate, { subject: "CN=cabinet", issuer: "CN=clients" })
  assert.notInclude(identified.text, "-----")
  const moved = { url: "https://127.0.0.1:10/" }
  const needed = await ask("PATCH", `addresses/${identified.json.id}`, { as: "editor", body: moved })
  assert.deepStrictEqual([needed.json.error.code, needed.json.error.param], ["certificate_needed", "/client_identity"])
  const none = { body: { ...moved, client_identity: null } }
  assert.isNull((await ask("PATCH", `addresses/${identified.json.id}`, none)).json.client_certificate)
  const more = { set_headers: [{ name: "X-Two", value: "hush" }], remove_headers: ["x-none"] }
  const merged = await ask("PATCH", `addresses/${address.json.id}`, { as: "editor", body: more })
  assert.deepStrictEqual(merged.json.header_names, ["Authorization", "X-Two"])
  const fewer = await ask("PATCH", `addresses/${address.json.id}`, { body: { remove_headers: ["X-TWO"] } })
  assert.deepStrictEqual(fewer.json.header_names, ["Authorization"])
  const without = await ask("PATCH", `addresses/${address.json.id}`, { as: "editor", body: { filters: [] } })
  assert.deepStrictEqual(without.json.filters, [])
  const missing = await ask("GET", `addresses/${address.json.id}/events/999999`, { as: "viewer" })
  assert.deepStrictEqual([missing.json.error.code, missing.json.error.param], ["no_such_event", "event_id"])
  const { secret } = address.json
  for (const path of ["addresses", `addresses/${address.json.id}`]) {
    const seen = (await ask("GET", path, { as: "viewer" })).text
    assert.notInclude(seen, secret)
    assert.notInclude(seen, "hush")
    assert.include((await ask("GET", path, { as: "editor" })).text, "/hook?token=hush")
  }
  const opening = await ask("GET", "addresses?limit=1", { as: "viewer" })
  assert.deepInclude(opening.json, { has_more: true, next_cursor: String(opening.json.data[0].id) })
  const rest = await ask("GET", `addresses?after=${opening.json.next_cursor}`, { as: "viewer" })
  assert.isTrue(rest.json.data.every((one: { readonly id: number }) => one.id > opening.json.data[0].id))
  assert.deepInclude(rest.json, { has_more: false, next_cursor: null })
  await database.run(`INSERT INTO cabinet.poll (source_id, url, every_seconds, paused_at)
    SELECT min(id), 'https://example.com', 60, now() FROM cabinet.source, generate_series(1, 2) n GROUP BY n`)
  for (const list of ["keys", "tokens", "sources", "polls", "people"]) {
    const first = (await ask("GET", `${list}?limit=1`)).json
    assert.deepInclude(first, { has_more: true, next_cursor: String(first.data[0].id) })
    assert.isAbove((await ask("GET", `${list}?after=${first.next_cursor}`)).json.data[0].id, first.data[0].id)
  }
  assert.strictEqual((await ask("POST", `addresses/${address.json.id}/reveal`)).json.secret, secret)
  const ping = await ask("POST", `addresses/${address.json.id}/ping`, { as: "editor" })
  assert.deepInclude(ping.json, { delivered: false, status: null })
  assert.isNotNull((await ask("POST", `addresses/${address.json.id}/pause`)).json.paused_at)
  assert.isNull((await ask("POST", `addresses/${address.json.id}/resume`)).json.paused_at)
  assert.notStrictEqual((await ask("POST", `addresses/${address.json.id}/rotate-secret`)).json.secret, secret)
  const attempts = await ask("GET", `addresses/${address.json.id}/attempts?failed=true&limit=1`, { as: "viewer" })
  assert.deepInclude(attempts.json.data[0], { type: "ping", delivered: false })
  const delivery = attempts.json.data[0].delivery_id
  const shownDelivery = await ask("GET", `deliveries/${delivery}`, { as: "viewer" })
  assert.deepInclude(shownDelivery.json, { state: "failed", attempts: 1 })
  assert.deepInclude(shownDelivery.json.log[0], { number: 1, type: "ping", delivered: false })
  for (const query of [`state=failed`, `address_id=${address.json.id}`, "limit=1"]) {
    assert.strictEqual((await ask("GET", `deliveries?${query}`, { as: "viewer" })).json.data[0].id, delivery, query)
  }
  const numbered = await ask("GET", `deliveries?before=${delivery}`, { as: "viewer" })
  assert.deepStrictEqual([numbered.status, numbered.json.error.param], [400, "before"])
  await ask("POST", `addresses/${address.json.id}/ping`, { as: "editor" })
  const first = await ask("GET", "deliveries?limit=1", { as: "viewer" })
  const second = await ask("GET", `deliveries?limit=1&before=${encodeURIComponent(first.json.next_cursor)}`)
  const third = await ask("GET", `deliveries?limit=1&before=${encodeURIComponent(second.json.next_cursor)}`)
  assert.strictEqual(second.json.data[0].id, delivery)
  assert.deepStrictEqual([third.json.data, third.json.has_more], [[], false])
  const newest = await ask("GET", `addresses/${address.json.id}/attempts?limit=1`, { as: "viewer" })
  const next = await ask("GET", `addresses/${address.json.id}/attempts?limit=1&before=${newest.json.next_cursor}`)
  assert.deepEqual([next.json.data[0].delivery_id, next.json.next_cursor], [delivery, null])
  for (const before of [
    "yesterday",
    `${newest.json.data[0].at}_0`,
    `${newest.json.data[0].at}_9007199254740993`,
    "_1",
  ]) {
    const refused = await ask("GET", `addresses/${address.json.id}/attempts?before=${before}`)
    assert.deepEqual([refused.status, refused.json.error.param], [400, "before"], before)
  }
  assert.strictEqual((await ask("GET", "addresses/999999/attempts")).json.error.code, "no_such_address")
  const counted = await ask("POST", `addresses/${address.json.id}/resend`, {
    body: { from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z", only: "failed", dry_run: true },
  })
  assert.deepStrictEqual(counted.json, { count: 0 })
  assert.strictEqual((await ask("POST", `deliveries/${delivery}/resend`)).json.error.code, "not_resent")
  const inward = await ask("POST", "addresses", { body: { url: "http://10.0.0.5/" } })
  assert.deepStrictEqual([inward.json.error.code, inward.json.error.param], ["not_public", "/url"])
  assert.strictEqual((await ask("DELETE", `addresses/${address.json.id}`, { as: "editor" })).status, 204)

  const poll = await ask("POST", "polls", {
    as: "editor",
    body: {
      source_id: id,
      url: "http://127.0.0.1:9/items?key=hush",
      every_seconds: 60,
      headers: [{ name: "X-Token", value: "hush-hush" }],
    },
  })
  assert.strictEqual(poll.status, 201)
  assert.deepStrictEqual(poll.json.header_names, ["X-Token"])
  assert.strictEqual((await ask("POST", `polls/${poll.json.id}/run`, { as: "editor" })).json.outcome, "failed")
  assert.strictEqual((await ask("GET", `polls/${poll.json.id}/runs`, { as: "viewer" })).json.data.length, 1)
  for (const path of ["polls", `polls/${poll.json.id}`]) {
    assert.notInclude((await ask("GET", path, { as: "viewer" })).text, "hush")
    assert.include((await ask("GET", path, { as: "editor" })).text, "/items?key=hush")
  }
  const elsewhere = await ask("PATCH", `polls/${poll.json.id}`, { as: "editor", body: { url: "http://127.0.0.1:10/" } })
  assert.deepStrictEqual([elsewhere.json.error.code, elsewhere.json.error.param], ["headers_needed", "/headers"])
  const slower = await ask("PATCH", `polls/${poll.json.id}`, { as: "editor", body: { every_seconds: 90 } })
  assert.deepStrictEqual([slower.json.every_seconds, slower.json.header_names], [90, ["X-Token"]])
  const body = { source_id: id, url: "http://127.0.0.1:9/", headers: [{ name: "X-Token", value: "hush-hush" }] }
  for (const [path, trial] of [
    ["polls/try", body],
    [`polls/${poll.json.id}/try`, {}],
  ] as const) {
    const tried = await ask("POST", path, { as: "editor", body: trial })
    assert.deepStrictEqual([tried.status, tried.json.status, tried.json.fresh], [200, null, 0])
    assert.isNotEmpty(tried.json.failure)
    assert.notInclude(tried.text, "hush")
    assert.strictEqual((await ask("POST", path, { as: "viewer", body: trial })).status, 403)
  }
  assert.isTrue((await ask("POST", `polls/${poll.json.id}/pause`)).json.paused)
  const header = await ask("POST", "polls", {
    body: { source_id: id, url: "http://127.0.0.1:9/", headers: [{ name: "Host", value: "hush-hush" }] },
  })
  assert.deepStrictEqual([header.json.error.code, header.json.error.param], ["bad_header", "/headers"])
  assert.notInclude(header.text, "hush-hush")
  assert.strictEqual((await ask("DELETE", `polls/${poll.json.id}`)).status, 204)

  const diagnostics = (await ask("GET", "diagnostics", { as: "viewer" })).json
  assert.strictEqual(diagnostics.deliveries.stuck, 0)
  assert.include(
    diagnostics.findings.map(({ check }: { check: string }) => check),
    "feed",
  )
  await cabinet.sql("CREATE VIEW public.hush AS SELECT 'hush-hush' AS secret")
  const [ran] = (await ask("GET", "audit?action=sql.run")).json.data
  assert.deepStrictEqual(ran.changes, { statements: 1, begin: ["CREATE VIEW"] })
  assert.deepInclude(ran, { outcome: "done" })
  assert.strictEqual((await ask("DELETE", `sources/${id}?table=drop`)).status, 204)
  assert.strictEqual((await ask("GET", `sources/${id}/columns`)).status, 404)
})

it("a credential revoked in one process is refused by the other at its next request", async () => {
  const other = await openCabinet({ databaseUrl: database.url, delivery: false })
  const [second, at] = await listen(other.nodeHandler)
  const issued = await ask("POST", "tokens", { body: { name: "lent", role: "viewer" } })
  const as = { authorization: `Bearer ${issued.json.token}` }
  assert.deepInclude((await ask("GET", "me", { as, at })).json, { kind: "token", name: "lent", role: "viewer" })
  await ask("POST", `tokens/${issued.json.id}/revoke`)
  assert.strictEqual((await ask("GET", "me", { as, at })).status, 401)
  second.close()
  await other.close()
})

it("a token has its own limit per minute, across processes", async () => {
  const { id, token } = await cabinet.tokens.create({ name: "busy", role: "viewer" })
  const as = { authorization: `Bearer ${token}` }
  await ask("GET", "me", { as })
  await database.run(`UPDATE cabinet.rate_window SET count = 299 WHERE subject = 'token:${id}'`)
  await database.run("UPDATE cabinet.clock SET shift = date_trunc('minute', now(), 'UTC') + interval '10 s' - now()")
  await database.run(
    `UPDATE cabinet.rate_window SET minute = date_trunc('minute', cabinet.now(), 'UTC'), last_at = cabinet.now() WHERE subject = 'token:${id}'`,
  )
  const last = await ask("GET", "me", { as })
  assert.deepStrictEqual([last.status, last.headers.get("x-ratelimit-remaining")], [200, "0"])
  const over = await ask("POST", "sources", { as, text: "{" })
  assert.deepStrictEqual([over.status, over.json.error.code], [429, "rate_limited"])
  assert.match(over.headers.get("retry-after")!, /^([1-9]|[1-5]\d)$/)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

const audit = async (query = "") => (await ask("GET", `audit?limit=20${query}`)).json.data as ReadonlyArray<any>

it("every action is logged with actor and outcome, for any kind of actor, and never a secret", async () => {
  const made = await ask("POST", "sources", {
    as: "editor",
    body: { name: "Audited" },
    headers: { "x-request-id": "request-7" },
  })
  const [entry] = await audit("&action=source.create&who=editor")
  assert.deepInclude(entry, {
    actor: { kind: "token", id: entry.actor.id, name: "editor" },
    role: "editor",
    client: "127.0.0.1",
    request_id: "request-7",
    object: `source ${made.json.id}`,
    outcome: "done",
  })
  assert.deepInclude(entry.changes, { name: "Audited" })
  await ask("POST", `sources/${made.json.id}/reveal`, { as: "editor" })
  assert.strictEqual((await audit(`&object=source ${made.json.id}`))[0].action, "source.reveal")

  await ask("PATCH", "sources/98765", { body: { name: "Nobody" } })
  assert.deepInclude((await audit("&action=source.change"))[0], { object: "source 98765", outcome: "no_such_source" })

  const signs = { header: "X-Sig", timestamp_header: "X-Time", tolerance_seconds: 60 }
  const verify = { recipe: "hmac", secret: "hush-5", hmac: signs }
  const verified = await ask("POST", "sources", { body: { name: "Verified", verify } })
  const kept = { ...signs, algorithm: "sha256", encoding: "hex", prefix: "" }
  const shown = { recipe: "hmac", mode: "reject", hmac: kept }
  assert.deepStrictEqual(verified.json.verify, { ...shown, keeps_old_secret: false })
  const one = `sources/${verified.json.id}`
  const rotated = await ask("PATCH", one, { body: { verify: { secret: "hush-6", keep_old_secret: true } } })
  assert.deepStrictEqual(rotated.json.verify, { ...shown, keeps_old_secret: true })
  assert.deepInclude((await audit("&action=source.change"))[0].changes, {
    verify: { keepOldSecret: true, secret: "new" },
  })
  const marking = await ask("PATCH", one, { body: { verify: { mode: "mark" } } })
  assert.deepStrictEqual(marking.json.verify, { ...shown, mode: "mark", keeps_old_secret: true })
  const { intake_url: intake } = (await ask("POST", `${one}/reveal`)).json
  const forged = (await (await cabinet.fetchHandler(new Request(intake, { method: "POST", body: "a=1" }))).json()) as {
    readonly id: number
  }
  const { event: marked, original } = (await ask("GET", `events/${forged.id}`)).json
  assert.deepStrictEqual(
    [marked.verified, original.verification],
    [false, { recipe: "hmac", verified: false, reason: "no_signature" }],
  )
  const unverified = (await ask("GET", "events?state=unverified")).json.data
  assert.deepStrictEqual(
    unverified.map(({ id, verified: is }: { id: number; verified: boolean }) => [id, is]),
    [[forged.id, false]],
  )
  const late = await ask("POST", "events/verify", { body: { events: [forged.id], deliver: true } })
  assert.deepStrictEqual(late.json, {
    verdicts: [{ id: forged.id, outcome: "unchecked", reason: "no_kept_signature" }],
    deliveries: 0,
  })
  const page = await ask("POST", `${one}/verify`, { body: { limit: 1 } })
  assert.deepInclude(page.json, { seen: 1, verdicts: late.json.verdicts })
  const end = await ask("POST", `${one}/verify`, { body: { limit: 1, cursor: page.json.next_cursor } })
  assert.deepStrictEqual(end.json, { verdicts: [], deliveries: 0, seen: 0, next_cursor: null })
  const strange = await ask("POST", `${one}/verify`, { body: { cursor: "x" } })
  assert.deepStrictEqual([strange.status, strange.json.error.param], [400, "/cursor"])
  assert.deepInclude((await audit("&action=event.verify"))[3].changes, { deliver: true, count: 1 })
  const refused = await ask("PATCH", one, { body: { verify: { recipe: "github" } } })
  assert.deepStrictEqual([refused.status, refused.json.error.param], [400, "/verify/secret"])
  const asked = await ask("PATCH", one, { body: { challenge: { provider: "meta", secret: "hush-7" } } })
  assert.deepStrictEqual(asked.json.challenge, { provider: "meta" })
  assert.deepInclude((await audit("&action=source.change"))[0].changes, {
    challenge: { provider: "meta", secret: "new" },
  })
  const unasked = await ask("PATCH", one, { body: { challenge: { provider: "x" } } })
  assert.deepStrictEqual(
    [unasked.status, unasked.json.error.code, unasked.json.error.param],
    [400, "bad_challenge", "/challenge"],
  )
  assert.isNull((await ask("PATCH", one, { body: { challenge: null } })).json.challenge)
  const proven = await ask("PATCH", one, { body: { proof: { kind: "turnstile", site_key: "0x4", secret: "hush-8" } } })
  assert.deepStrictEqual(proven.json.proof, { kind: "turnstile", site_key: "0x4" })
  assert.deepInclude((await audit("&action=source.change"))[0].changes, {
    proof: { kind: "turnstile", site_key: "0x4", secret: "new" },
  })
  const moved = await ask("PATCH", one, { body: { proof: { kind: "turnstile", site_key: "0x5" } } })
  assert.deepStrictEqual(moved.json.proof, { kind: "turnstile", site_key: "0x5" })
  const unproven = await ask("PATCH", one, { body: { proof: { kind: "hcaptcha", site_key: "0x5" } } })
  assert.deepStrictEqual(
    [unproven.status, unproven.json.error.code, unproven.json.error.param],
    [400, "bad_proof", "/proof"],
  )
  assert.isNull((await ask("PATCH", one, { body: { proof: null } })).json.proof)
  assert.notInclude(
    asked.text + proven.text + verified.text + rotated.text + (await ask("POST", `${one}/reveal`)).text,
    "hush",
  )
  assert.isNull((await ask("PATCH", one, { body: { verify: null } })).json.verify)

  const url = "http://ann:hush-1@127.0.0.1:9/hook?token=hush-2"
  const address = await cabinet.addresses.create({ url: "http://127.0.0.1:9/hook?token=hush-2" })
  await ask("PATCH", `addresses/${address.id}`, { body: { url } })
  await ask("POST", `addresses/${address.id}/reveal`)
  await ask("POST", "polls", {
    body: {
      source_id: made.json.id,
      url: "http://127.0.0.1:9/?key=hush-3",
      headers: [{ name: "X-T", value: "hush-4" }],
    },
  })
  const key = await ask("POST", "keys", { body: { name: "K" } })
  const token = await cabinet.tokens.create({ name: "T", role: "viewer" })
  const all = await audit()
  assert.deepInclude(all[0], { action: "token.issue", object: `token ${token.id}`, outcome: "done" })
  assert.deepInclude(all[0].actor, { kind: "program", id: null })
  assert.include(
    all.map(({ action }) => action),
    "address.reveal",
  )
  const rows = JSON.stringify(await database.run("SELECT a::text AS entry FROM cabinet.audit a"))
  for (const secret of ["hush-", made.json.intake_path, key.json.key, token.token, address.secret]) {
    assert.notInclude(rows, secret)
  }
  assert.include(rows, "http://127.0.0.1:9/hook?…")
})

it("the audit log has pages by `before`", async () => {
  const first = await ask("GET", "audit?limit=2")
  const second = await ask("GET", `audit?limit=2&before=${first.json.next_cursor}`)
  const ids = [...first.json.data, ...second.json.data].map(({ id }: any) => id)
  assert.deepStrictEqual(
    ids,
    [...new Set(ids)].sort((one, other) => other - one),
  )
  assert.strictEqual(ids.length, 4)
})

it("an action that cannot be logged does not begin, and one whose outcome cannot be logged stays open", async () => {
  await database.run(`CREATE FUNCTION cabinet.refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'full' USING ERRCODE = '53100'; END $$`)
  await database.run(
    "CREATE TRIGGER refuse BEFORE INSERT ON cabinet.audit FOR EACH ROW EXECUTE FUNCTION cabinet.refuse()",
  )
  const refused = await ask("POST", "keys", { body: { name: "unaudited" } })
  assert.deepStrictEqual([refused.status, refused.json.error.code], [503, "unavailable"])
  assert.notInclude((await ask("GET", "keys")).text, "unaudited")
  await database.run("DROP TRIGGER refuse ON cabinet.audit")

  await database.run(
    "CREATE TRIGGER refuse BEFORE UPDATE ON cabinet.audit FOR EACH ROW EXECUTE FUNCTION cabinet.refuse()",
  )
  const done = await ask("POST", "keys", { body: { name: "half audited" } })
  assert.strictEqual(done.status, 201)
  await database.run("DROP TRIGGER refuse ON cabinet.audit")
  assert.deepInclude((await audit("&action=key.issue"))[0], { ended_at: null, outcome: null })
})

it("an action on a day without a partition creates one", async () => {
  await database.run("UPDATE cabinet.clock SET shift = '40 days'")
  assert.strictEqual((await ask("POST", "keys", { body: { name: "later" } })).status, 201)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

/** Mostly invalid values for bodies and parameters, and some valid ones. */
const VALUES: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1,
  1.5,
  9_007_199_254_740_992,
  1e308,
  "",
  "x",
  "owner",
  "all",
  "\u0000",
  "\ud800",
  "я".repeat(300),
  "http://example.invalid/",
  "javascript:alert(1)",
  "2026-01-01T00:00:00Z",
  "9999999-99-99",
  "__proto__",
  [],
  [1],
  [[[]]],
  ["all"],
  {},
  { name: "x" },
  { "": 1 },
  [{ name: "a\r\nb", value: "c\r\nd" }],
]

interface FuzzedBody {
  readonly body: unknown
  /** The invalid and omitted fields; null if the body is not an object. */
  readonly changed: ReadonlySet<string> | null
}

const bodyFor = (random: Random, schema: any): FuzzedBody => {
  if (random(10) === 0) return { body: randomOf(random, VALUES), changed: null }
  const body: Record<string, unknown> = {}
  const changed = new Set<string>()
  // About half of the bodies have a single fault, so that the error has one place to point at.
  const names = Object.keys(schema.properties ?? {})
  const wrong = random(2) === 0 ? new Set([randomOf(random, names)]) : null
  for (const [name, field] of Object.entries<any>(schema.properties ?? {})) {
    const isWrong = wrong === null ? random(2) === 0 : wrong.has(name)
    if (isWrong) changed.add(name)
    if (isWrong && random(3) === 0) continue
    body[name] = isWrong ? randomOf(random, VALUES) : rightFor(field)
  }
  if (random(8) === 0) {
    const odd = `odd/~${random(9)}`
    body[odd] = 1
    changed.add(odd)
  }
  return { body, changed }
}

const rightFor = (field: any): unknown => {
  const form = field.anyOf?.[0] ?? field
  if (form.enum !== undefined) return form.enum[0]
  switch (form.type) {
    case "integer":
    case "number":
      return form.minimum ?? 1
    case "boolean":
      return false
    case "array":
      return form.minItems === undefined ? [] : [rightFor(form.items)]
    case "object":
      return Object.fromEntries((form.required ?? []).map((name: string) => [name, rightFor(form.properties[name])]))
    default:
      return "x"
  }
}

/** Invalid values of an idempotency key, and a valid one. */
const FUZZED_KEYS = ["", "two words", "\u00e9", "x".repeat(256), "{}", "\t"]

/** Whether a pointer leads to a value of the body, or to a missing member of an existing value. */
const leadsInto = (body: unknown, pointer: string): boolean => {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  let at: any = body
  for (const [index, step] of steps.entries()) {
    if (typeof at !== "object" || at === null) return false
    if (!Object.hasOwn(at, step)) return index === steps.length - 1
    at = at[step]
  }
  return true
}

/** Each sends a request to every endpoint; the trials send 10,000. */
const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? "6")

it(
  "no body and no parameter causes a fault, and each error points at its cause",
  async () => {
    const random = seeded(20_261_124)
    const pointed = new Map<string, number>()
    let sent = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { token } = await cabinet.tokens.create({ name: "fuzz", role: "owner" })
      const as = { authorization: `Bearer ${token}` }
      for (const operation of operations()) {
        const { method, node } = operation
        const schema = node.requestBody?.content["application/json"].schema
        const { body, changed } = schema === undefined ? { body: undefined, changed: null } : bodyFor(random, schema)
        const parameters = node.parameters as ReadonlyArray<any>
        const known = parameters.filter(({ in: place }) => place !== "header").map(({ name }) => name as string)
        const asked = Array.from({ length: random(3) }, () =>
          random(5) === 0 ? "odd" : (randomOf(random, known) ?? "odd"),
        )
        const pairs = asked.map(
          (name) =>
            `${encodeURIComponent(name)}=${encodeURIComponent(String(randomOf(random, VALUES)).toWellFormed())}`,
        )
        const segment = randomOf(random, ["1", "0", "9007199254740993", "%ff", "%00", "x", "-1", "1.0"])
        const path = operation.path.replace("/manage/v1/", "").replaceAll(/\{\w+\}/g, segment)
        const headers: Record<string, string> =
          random(4) === 0 ? { "idempotency-key": randomOf(random, FUZZED_KEYS) } : {}
        const answer = await ask(method, `${path}?${pairs.join("&")}`, { as, body, headers })
        const where = `${method} ${path}?${pairs.join("&")} ${JSON.stringify(body)} -> ${answer.status} ${answer.text.slice(0, 300)}`
        sent++
        assert.isBelow(answer.status, 500, where)
        if (answer.status < 400) continue
        assert.hasAllKeys(answer.json.error, ["type", "code", "message", "param"], where)
        const { code, param } = answer.json.error
        pointed.set(code, (pointed.get(code) ?? 0) + 1)
        if (param === null) continue
        if (!param.startsWith("/") && param !== "") {
          assert.isTrue(known.includes(param) || param === "odd", where)
          if (code === "unknown_param") assert.isTrue(asked.includes(param), where)
          continue
        }
        if (param !== "") assert.isTrue(leadsInto(body, param), where)
        if (changed !== null && (code === "bad_body" || code === "unknown_field")) {
          const [, step = ""] = param.split("/")
          assert.isTrue(changed.has(step.replaceAll("~1", "/").replaceAll("~0", "~")), where)
        }
      }
    }
    for (const code of ["bad_body", "unknown_field", "bad_id", "unknown_param"]) {
      assert.isAbove(pointed.get(code) ?? 0, 0, code)
    }
    assert.isAbove(sent, 45 * ROUNDS - 1)
  },
  600_000 + ROUNDS * 2_000,
)
