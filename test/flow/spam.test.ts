/** Public forms: spam, by the rules of its source, is only an event, until a person restores it. */
import { runInNewContext } from "node:vm"
import { deleteUsedProofs } from "@data-cabinet/store-pg/maintenance/Maintenance"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
let receiver: Receiver
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet
beforeAll(async () => {
  receiver = await startReceiver()
  const open = () => openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"] })
  cabinets = await Promise.all([open(), open()])
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all(cabinets.map((one) => one.close()))
  await receiver.close()
})

interface Answer {
  readonly ok: boolean
  readonly id: number
  readonly duplicate: boolean
  readonly empty: boolean
  readonly results: ReadonlyArray<{ readonly id: number; readonly duplicate: boolean }>
}

const post = async (url: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const type = /^[[{]/.test(body) ? "application/json" : "application/x-www-form-urlencoded"
  const init = { method: "POST", body, headers: { "content-type": type, accept: "application/json", ...headers } }
  const response = await cabinet.fetchHandler(new Request(url, init))
  assert.strictEqual(response.status, 200)
  return (await response.json()) as Answer
}

const feedOf = async (sourceId: number) => {
  const events = []
  for await (const event of cabinet.feed({ sourceId })) events.push(event)
  return events
}

const rowsOf = async (table: string) =>
  (await database.run(`SELECT to_json(t) AS row FROM sources."${table}" t ORDER BY _event_id`)).map(({ row }) =>
    typeof row === "string" ? (JSON.parse(row) as Record<string, unknown>) : (row as Record<string, unknown>),
  )

const sentTo = async (addressId: number) =>
  (
    await database.run(
      `SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${addressId} ORDER BY event_id`,
    )
  ).map(({ id }) => id)

it("a filled honeypot marks an event as spam: it gets a true receipt, but no row, column, delivery or repeat", async () => {
  const source = await cabinet.sources.create({ name: "Form", honeypot: "website" })
  const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const spam = await post(source.intakeUrl, "name=Bot&pills=1&website=http%3A%2F%2Fspam")
  const again = await post(source.intakeUrl, "name=Bot&pills=1&website=http%3A%2F%2Fspam")
  const honest = await post(source.intakeUrl, "name=Ada&website=")
  const { results } = await post(source.intakeUrl, '[{"name":"Bob","website":[""]},{"name":"Bot","website":["x"]}]')
  const ids = [spam, again, honest, ...results].map(({ id }) => id)
  assert.deepStrictEqual(
    [spam, again, honest].map(({ ok, duplicate, empty }) => [ok, duplicate, empty]),
    [true, true, true].map(() => [true, false, false]),
  )
  const feed = await feedOf(source.id)
  assert.deepStrictEqual(
    feed.map((event) => [event.id, event.spam, event.repeat_of]),
    ids.map((id, n) => [id, [0, 1, 4].includes(n) ? true : undefined, null]),
  )
  assert.match(feed[0]!.text, /"deleted_at":null,"spam":true\}$/)
  const rows = await rowsOf(source.table!.name)
  assert.deepStrictEqual(
    rows.map((row) => [row["_event_id"], row["name"]]),
    [
      [ids[2], "Ada"],
      [ids[3], "Bob"],
    ],
  )
  // A honeypot that a person leaves empty is a field like any other; a field that only spam has gets no column.
  assert.containsAllKeys(rows[0], ["website"])
  assert.notProperty(rows[0], "pills")
  assert.deepStrictEqual(await sentTo(all.id), [ids[2], ids[3]])
  const tested = await cabinet.addresses.test(all.id, spam.id)
  assert.deepStrictEqual([tested.passes, tested.reasons.map(({ code }) => code)], [false, ["spam"]])
  assert.strictEqual((await cabinet.events.inspect(spam.id))!.spam, "honeypot")
})

it("spam is restored as an ordinary event, with its row and its deliveries by the current filters, once", async () => {
  const source = await cabinet.sources.create({ name: "Restored", honeypot: "website" })
  const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const some = await cabinet.addresses.create({
    url: receiver.url,
    sources: [source.id],
    filters: [{ fc: "name", fo: "eq", fv: "Eve" }],
  })
  const sent = []
  for (const name of ["Eve", "Ida", "Bot"]) sent.push((await post(source.intakeUrl, `name=${name}&website=mine`)).id)
  const [eve = 0, ida = 0, bot = 0] = sent
  // Spam can be moved to the trash, and is still spam when restored from there.
  assert.strictEqual(await cabinet.events.trash(source.id, [bot]), 1)
  assert.strictEqual(await cabinet.events.untrash(source.id, [bot]), 1)
  assert.strictEqual((await cabinet.events.inspect(bot))!.spam, "honeypot")
  const restored = await Promise.all(
    Array.from({ length: 6 }, (_, n) => cabinets[n % 2]!.events.untrash(source.id, [eve, ida])),
  )
  assert.deepStrictEqual(
    restored.toSorted((a, b) => a - b),
    [0, 0, 0, 0, 0, 2],
  )
  assert.deepStrictEqual([await sentTo(all.id), await sentTo(some.id)], [[eve, ida], [eve]])
  const received = () =>
    receiver.received.map((one) => JSON.parse(one.body.toString()).data).filter((data) => data.source.id === source.id)
  await receiver.until(() => received().length === 3)
  assert.notProperty(received()[0], "spam")
  const { rows } = await until(async () => {
    const found = await rowsOf(source.table!.name)
    return found.length === 2 ? { rows: found } : null
  })
  assert.deepStrictEqual(
    rows.map((row) => [row["_event_id"], row["name"], row["website"]]),
    [
      [eve, "Eve", "mine"],
      [ida, "Ida", "mine"],
    ],
  )
  assert.strictEqual(await cabinet.events.untrash(source.id, [eve, ida]), 0)
  const events = await feedOf(source.id)
  assert.deepStrictEqual(
    events.map((event) => event.spam),
    [undefined, undefined, true],
  )
})

const until = async <A>(find: () => Promise<A | null>): Promise<A> => {
  for (;;) {
    const found = await find()
    if (found !== null) return found
  }
}

it("requests from a page of another origin, or without an origin, are spam, even whole batches", async () => {
  const source = await cabinet.sources.create({
    name: "Origins",
    allowOrigins: ["https://Shop.example.com/", "http://localhost:3000"],
  })
  assert.deepStrictEqual(source.allowOrigins, ["https://shop.example.com", "http://localhost:3000"])
  const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, boolean]> = [
    [{ origin: "https://shop.example.com" }, false],
    [{ origin: "http://localhost:3000" }, false],
    [{ referer: "https://shop.example.com/contact?x=1" }, false],
    [{ origin: "https://evil.example.com", referer: "https://shop.example.com/" }, true],
    [{ origin: "null" }, true],
    [{ origin: "https://shop.example.com.evil.example" }, true],
    [{}, true],
  ]
  const expected = []
  for (const [n, [headers, isSpam]] of cases.entries()) {
    const { results } = await post(source.intakeUrl, `[{"n":${n}},{"n":"${n}"}]`, headers)
    for (const { id } of results) expected.push([id, isSpam ? "origin" : null])
  }
  const found = []
  for (const [id] of expected) found.push([id, (await cabinet.events.inspect(id as number))!.spam])
  assert.deepStrictEqual(found, expected)
  assert.strictEqual((await rowsOf(source.table!.name)).length, 6)
})

it("spam gets no row even while its source's rows are deferred, and changed rules apply from the next request", async () => {
  const source = await cabinet.sources.create({ name: "Deferred" })
  await post(source.intakeUrl, "name=Ada&website=x")
  await cabinet.sources.change(source.id, { honeypot: "website" })
  await database.run(`UPDATE cabinet.source SET rows_deferred = true WHERE id = ${source.id}`)
  const { results } = await post(source.intakeUrl, '[{"name":"Bot","website":"x"},{"name":"Bob"}]')
  const rows = await until(async () => {
    const found = await rowsOf(source.table!.name)
    return found.length > 1 ? found : null
  })
  await cabinet.events.untrash(source.id, [results[1]!.id])
  assert.deepStrictEqual(
    rows.map(({ name }) => name),
    ["Ada", "Bob"],
  )
  assert.strictEqual((await rowsOf(source.table!.name)).length, 2)
  await cabinet.sources.change(source.id, { honeypot: null })
  const { id } = await post(source.intakeUrl, "name=Cid&website=x")
  assert.isNull((await cabinet.events.inspect(id))!.spam)
})

it("invalid rules are refused by name", async () => {
  const refused = async (rules: Parameters<Cabinet["sources"]["change"]>[1]) =>
    cabinet.sources.create({ name: "Refused", ...rules }).then(
      () => "",
      (error: { readonly code: string }) => error.code,
    )
  assert.deepStrictEqual(
    await Promise.all([
      refused({ honeypot: "" }),
      refused({ honeypot: "_raw" }),
      refused({ allowOrigins: ["https://example.com/form"] }),
      refused({ allowOrigins: ["*"] }),
      refused({ allowOrigins: Array.from({ length: 21 }, (_, n) => `https://${n}.example.com`) }),
    ]),
    ["bad_honeypot", "bad_honeypot", "bad_allow_origins", "bad_allow_origins", "bad_allow_origins"],
  )
})

/** The script of a form's page, as it runs in a browser, with the fetch of this server. */
const proverOn = async (server: Cabinet, intakeUrl: string): Promise<() => Promise<string>> => {
  const script = await (await server.fetchHandler(new Request(`${intakeUrl}/proof.js`))).text()
  const page = {
    document: { currentScript: { src: `${intakeUrl}/proof.js` }, addEventListener: () => {} },
    fetch: (url: string) => server.fetchHandler(new Request(url)),
    performance,
    setTimeout,
    btoa,
    URL,
    WeakMap,
  }
  runInNewContext(script, page)
  return (page as unknown as { readonly cabinetProof: () => Promise<string> }).cabinetProof
}

it("a proof of a person is valid once, on any server, and stays out of its event", async () => {
  const source = await cabinet.sources.create({ name: "Proven", proof: { kind: "altcha" } })
  const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const [prove, proveThere] = await Promise.all(cabinets.map((one) => proverOn(one, source.intakeUrl)))
  const form = (name: string, altcha?: string) =>
    String(new URLSearchParams({ name, ...(altcha === undefined ? {} : { altcha }) }))
  const proof = await prove!()
  const race = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      cabinets[n % 2]!.fetchHandler(
        new Request(source.intakeUrl, {
          method: "POST",
          body: new URLSearchParams({ name: `Ada ${n}`, altcha: proof }),
        }),
      ),
    ),
  )
  const ids = await Promise.all(race.map(async (response) => ((await response.json()) as Answer).id))
  const reasons = await Promise.all(ids.map(async (id) => (await cabinet.events.inspect(id))!.spam))
  assert.deepStrictEqual(
    reasons.filter((reason) => reason !== null),
    Array.from({ length: 5 }, () => "used_proof"),
  )
  const first = ids[reasons.indexOf(null)]!
  const later = await post(source.intakeUrl, form("Bot", proof))
  const none = await post(source.intakeUrl, form("Bot"))
  const other = await cabinet.sources.create({ name: "Other form", proof: { kind: "altcha" } })
  const foreign = await post(source.intakeUrl, form("Bot", await (await proverOn(cabinet, other.intakeUrl))()))
  const { results } = await post(source.intakeUrl, `[{"name":"Bot","altcha":"${await prove!()}"},{"name":"Bot"}]`)
  const json = await post(source.intakeUrl, `{"name":"Ida","altcha":"${await proveThere!()}"}`)
  const spam = [later, none, foreign, ...results].map(({ id }) => id)
  const found = await Promise.all(spam.map(async (id) => (await cabinet.events.inspect(id))!.spam))
  assert.deepStrictEqual(found, ["used_proof", "no_proof", "wrong_proof", "no_proof", "no_proof"])
  const rows = await rowsOf(source.table!.name)
  assert.deepStrictEqual(
    rows.map((row) => row["_event_id"]),
    [first, json.id],
  )
  for (const row of rows) assert.notProperty(row, "altcha")
  assert.deepStrictEqual(await sentTo(all.id), [first, json.id])
  for (const event of await feedOf(source.id)) assert.notInclude(event.text, "altcha")
  // A person says that it is not spam: it gets its row and its delivery then, whatever its proof.
  assert.strictEqual(await cabinet.events.untrash(source.id, [none.id]), 1)
  await until(async () => ((await rowsOf(source.table!.name)).length === 3 ? true : null))
  assert.deepStrictEqual(
    await sentTo(all.id),
    [first, none.id, json.id].toSorted((a, b) => a - b),
  )
})

it("an event that came with a proof is read again without it", async () => {
  const source = await cabinet.sources.create({ name: "Read again", encoding: "latin-1", proof: { kind: "altcha" } })
  const altcha = await (await proverOn(cabinet, source.intakeUrl))()
  const { id } = await post(source.intakeUrl, `name=%CF%F0%E8%E2%E5%F2&altcha=${encodeURIComponent(altcha)}`)
  await cabinet.events.reread([id], { encoding: "windows-1251" })
  assert.deepStrictEqual(
    (await feedOf(source.id)).map(({ payload }) => payload),
    [{ name: "Привет" }],
  )
})

it("only a source that demands ALTCHA gives challenges, and its used proofs are deleted when no clock accepts them", async () => {
  const challenge = async (url: string) => (await cabinet.fetchHandler(new Request(`${url}/challenge`))).status
  const source = await cabinet.sources.create({ name: "Challenges", proof: { kind: "altcha" } })
  const turnstile = { kind: "turnstile", siteKey: "0x4", secret: "hush" } as const
  const provider = await cabinet.sources.create({ name: "Provider", proof: turnstile })
  assert.deepStrictEqual(
    [
      await challenge(source.intakeUrl),
      await challenge(provider.intakeUrl),
      await challenge(`${source.intakeUrl}x`),
      (await cabinet.fetchHandler(new Request(`${source.intakeUrl}/challenge`, { method: "POST" }))).status,
    ],
    [200, 404, 404, 405],
  )
  const key = async () =>
    (await database.run(`SELECT proof_secret AS key FROM cabinet.source WHERE id = ${source.id}`))[0]!["key"]
  const before = await key()
  await cabinet.sources.change(source.id, { proof: { kind: "altcha" } })
  assert.strictEqual(await key(), before)
  await cabinet.sources.change(source.id, { proof: null })
  assert.isNull(await key())
  await database.run("INSERT INTO cabinet.used_proof SELECT gen_random_uuid(), cabinet.now() - interval '2 hours'")
  const used = await database.run("SELECT count(*)::int AS n FROM cabinet.used_proof")
  const maintained = testCabinet(database.url)
  await maintained.runPromise(deleteUsedProofs)
  await maintained.dispose()
  const left = await database.run("SELECT count(*)::int AS n FROM cabinet.used_proof")
  assert.strictEqual(Number(left[0]!["n"]), Number(used[0]!["n"]) - 1)
})

it("an own schema marks events in feed, rows, filters and deliveries, from requests and files, and refuses none", async () => {
  const schema = '{"properties":{"n":{"type":"integer"}},"required":["n"]}'
  const source = await cabinet.sources.create({ name: "Agreed", schema })
  const only = { filters: [{ fc: "_valid", fo: "ne", fv: "false" }] } as const
  const agreed = await cabinet.addresses.create({ url: receiver.url, sources: [source.id], ...only })
  const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const { results } = await post(source.intakeUrl, '[{"n":1.0},{"n":"1"},{"m":1}]')
  const [one, two, three] = results.map(({ id }) => id)
  assert.deepStrictEqual(
    (await feedOf(source.id)).map((event) => event.payload),
    [
      { n: 1 },
      { n: "1", _valid: false, _schema_error: "/n must be an integer" },
      { m: 1, _valid: false, _schema_error: 'the payload must have a member "n"' },
    ],
  )
  const invalid = { fc: "_valid", fo: "eq", fv: "false" } as const
  const { rows } = await cabinet.rows(`sources.${source.table!.name}`, invalid)
  assert.deepStrictEqual(
    rows.map((row) => [row["_event_id"], row["_schema_error"]]),
    [
      [three, 'the payload must have a member "n"'],
      [two, "/n must be an integer"],
    ],
  )
  const file = { name: "orders.json", bytes: Buffer.from('[{"n":2},{"n":2.5}]') }
  assert.strictEqual((await cabinet.imports.file(source.id, file)).state, "done")
  assert.deepStrictEqual((await feedOf(source.id)).at(-1)!.payload, {
    n: 2.5,
    _valid: false,
    _schema_error: "/n must be an integer",
  })
  assert.deepStrictEqual(await sentTo(agreed.id), [one])
  assert.deepStrictEqual(await sentTo(all.id), [one, two, three])
  await cabinet.sources.change(source.id, { schema: null })
  await post(source.intakeUrl, '{"n":"unmarked"}')
  assert.deepStrictEqual((await feedOf(source.id)).at(-1)!.payload, { n: "unmarked" })
  const refused = cabinet.sources.change(source.id, { schema: '{"properties":{"n":{"typ":"integer"}}}' })
  const { code, message } = await refused.then(
    () => assert.fail("it is accepted"),
    (error: { code: string; message: string }) => error,
  )
  assert.strictEqual(code, "bad_schema")
  assert.include(message, "/properties/n/typ is not a keyword")
})
