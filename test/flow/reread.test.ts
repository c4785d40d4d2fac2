/** Stored events are read again in another charset: event, row and reading are corrected together, and delivered again if wanted. */
import { type Cabinet, openCabinet } from "data-cabinet"
import iconv from "iconv-lite"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
let receiver: Receiver
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet
beforeAll(async () => {
  receiver = await startReceiver()
  const open = () =>
    openCabinet({ databaseUrl: database.url, baseUrl: "https://data.example.com", allowedNetworks: ["127.0.0.0/8"] })
  cabinets = await Promise.all([open(), open()])
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all(cabinets.map((one) => one.close()))
  await receiver.close()
})

const FORM = "application/x-www-form-urlencoded"
const percent = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const utf8 = (text: string) => percent(Buffer.from(text))
const win = (text: string) => percent(iconv.encode(text, "win1251"))
const koi = (text: string) => percent(iconv.encode(text, "koi8-r"))

const post = async (url: string, body: string | Buffer, type = FORM): Promise<number> => {
  const headers = { "content-type": type }
  const bytes = typeof body === "string" ? body : new Uint8Array(body)
  const response = await cabinet.fetchHandler(new Request(url, { method: "POST", body: bytes, headers }))
  const answer = (await response.json()) as { readonly id: number }
  assert.strictEqual(response.status, 200, JSON.stringify(answer))
  return answer.id
}

const payloadOf = async (id: number) => (await cabinet.events.inspect(id))!.event.payload
const encodingOf = async (id: number) => {
  const { charset, charsetFrom, replaced, others = [] } = (await cabinet.events.inspect(id))!.original!
  return { charset, charsetFrom, replaced, others }
}
const rowOf = async (table: string, id: number) =>
  (await database.run(`SELECT to_json(t) AS row FROM sources.${table} t WHERE _event_id = ${id}`))[0]!["row"] as Record<
    string,
    unknown
  >

/** A source that reads whole forms in one charset, as earlier versions did. */
const asBefore = async (name: string, encoding: "windows-1251" | "latin-1" | "utf-8" = "windows-1251") => {
  const source = await cabinet.sources.create({ name, encoding })
  return { ...source, table: source.table!.name }
}
const guessedBefore = () =>
  database.run("UPDATE cabinet.original_request SET charset_from = 'data' WHERE charset_from = 'source'")

const crlf = (lines: ReadonlyArray<string | Buffer>) =>
  Buffer.concat(lines.flatMap((line) => [typeof line === "string" ? Buffer.from(line) : line, Buffer.from("\r\n")]))
const MULTIPART = "multipart/form-data; boundary=b"
const part = (name: string, value: string | Buffer) => [
  "--b",
  `Content-Disposition: form-data; name="${name}"`,
  "",
  value,
]

it("earlier events whose values were read in the charset of another value are corrected from their originals", async () => {
  const source = await asBefore("Mixed")
  // A query in windows-1251 with a UTF-8 body; a file name in windows-1251; mail as a form with a charset for each
  // field.
  const query = await post(`${source.intakeUrl}?src=${win("Яндекс")}`, `name=${utf8("Анна Петрова")}&n=1`)
  const file = await post(
    source.intakeUrl,
    crlf([
      ...part("name", "Анна Петрова"),
      "--b",
      Buffer.concat([
        Buffer.from('Content-Disposition: form-data; name="f"; filename="'),
        iconv.encode("Договор.pdf", "win1251"),
        Buffer.from('"'),
      ]),
      "Content-Type: application/pdf",
      "",
      "x",
      "--b--",
    ]),
    MULTIPART,
  )
  const mail = await post(
    source.intakeUrl,
    crlf([
      ...part("subject", "Заявка с сайта"),
      ...part("text", iconv.encode("Добрый день", "koi8-r")),
      ...part("charsets", '{"subject":"UTF-8","text":"koi8-r"}'),
      "--b--",
    ]),
    MULTIPART,
  )
  const mixed = await post(source.intakeUrl, `name=${utf8("Анна")}&city=${win("Москва")}&city=${utf8("Тверь")}`)
  await guessedBefore()
  assert.deepStrictEqual(await payloadOf(mixed), { name: "РђРЅРЅР°", city: ["Москва", "РўРІРµСЂСЊ"] })

  const preview = await cabinet.events.rereadSource(source.id, { encoding: "cp1251", dryRun: true })
  assert.deepStrictEqual(
    preview.verdicts.map(({ outcome }) => outcome),
    ["changed", "changed", "changed", "changed"],
  )
  const example = { field: "name", fieldBefore: null, before: "РђРЅРЅР° РџРµС‚СЂРѕРІР°", after: "Анна Петрова" }
  assert.deepStrictEqual(preview.example, { event: query, values: [example], more: 0 })
  assert.deepStrictEqual(await payloadOf(mixed), { name: "РђРЅРЅР°", city: ["Москва", "РўРІРµСЂСЊ"] })

  const done = await cabinet.events.rereadSource(source.id, { encoding: "cp1251" })
  assert.deepStrictEqual(done, preview)
  assert.deepStrictEqual(await payloadOf(query), { src: "Яндекс", name: "Анна Петрова", n: "1" })
  assert.deepStrictEqual(await payloadOf(file), {
    name: "Анна Петрова",
    f: { name: "Договор.pdf", type: "application/pdf", size: 1 },
  })
  assert.deepInclude(await payloadOf(mail), { subject: "Заявка с сайта", text: "Добрый день" })
  assert.deepStrictEqual(await payloadOf(mixed), { name: "Анна", city: ["Москва", "Тверь"] })
  assert.deepInclude(await rowOf(source.table, query), {
    _event_id: query,
    src: "Яндекс",
    name: "Анна Петрова",
    n: "1",
  })
  assert.deepInclude(await rowOf(source.table, mixed), { name: "Анна", city: ["Москва", "Тверь"] })
  assert.deepStrictEqual(await encodingOf(mixed), {
    charset: "windows-1251",
    charsetFrom: "reread",
    replaced: 0,
    others: [{ name: "utf-8", decidedBy: "data", place: "body", fields: ["name", "city"], more: 0 }],
  })
  const again = await cabinet.events.rereadSource(source.id, { encoding: "windows-1251" })
  assert.deepStrictEqual(
    [again.example, again.verdicts.map(({ outcome }) => outcome)],
    [null, ["unchanged", "unchanged", "unchanged", "unchanged"]],
  )
})

it("JSON whose bytes are not UTF-8 is corrected, and a source's other JSON is left", async () => {
  const source = await cabinet.sources.create({ name: "Json" })
  await post(source.intakeUrl, '{"name":"Анна"}', "application/json")
  const bytes = iconv.encode('{"name":"Пётр","n":1.00}', "win1251")
  const request = new Request(source.intakeUrl, {
    method: "POST",
    body: new Uint8Array(bytes),
    headers: { "content-type": "application/json" },
  })
  const { id } = (await (await cabinet.fetchHandler(request)).json()) as { readonly id: number }
  const { verdicts } = await cabinet.events.rereadSource(source.id, { encoding: "windows-1251" })
  assert.deepStrictEqual(verdicts, [{ id, outcome: "changed", reason: null, replaced: 0 }])
  assert.deepStrictEqual(await payloadOf(id), { name: "Пётр", n: 1 })
  assert.deepInclude(await rowOf(source.table!.name, id), { name: "Пётр" })
})

it("names of fields are corrected as well, and the row moves to their columns", async () => {
  const source = await asBefore("Names", "latin-1")
  const id = await post(source.intakeUrl, `${koi("имя")}=${koi("Анна")}&n=1`)
  const before = await rowOf(source.table, id)
  const { example } = await cabinet.events.reread([id], { encoding: "koi8-r" })
  assert.deepStrictEqual(example!.values, [{ field: "имя", fieldBefore: "ÉÍÑ", before: "áÎÎÁ", after: "Анна" }])
  assert.deepStrictEqual(await payloadOf(id), { имя: "Анна", n: "1" })
  const row = await rowOf(source.table, id)
  assert.deepInclude(row, { imya: "Анна", n: "1" })
  for (const column of Object.keys(before)) {
    if (before[column] === "áÎÎÁ") assert.strictEqual(row[column], null)
  }
})

it("an event keeps its place in the feed, its headers, and columns that others added to its row", async () => {
  const source = await cabinet.sources.create({ name: "Kept", encoding: "utf-8", headerFields: ["X-Shop"] })
  const table = source.table!.name
  const request = (body: string) =>
    cabinet.fetchHandler(
      new Request(source.intakeUrl, { method: "POST", body, headers: { "content-type": FORM, "x-shop": "7" } }),
    )
  const { id } = (await (await request(`name=${win("Анна")}`)).json()) as { readonly id: number }
  const { id: after } = (await (await request("name=Bob")).json()) as { readonly id: number }
  await database.run(`ALTER TABLE sources.${table} ADD COLUMN checked text`)
  await database.run(`UPDATE sources.${table} SET checked = 'yes' WHERE _event_id = ${id}`)
  const place = () => database.run(`SELECT epoch::text, xid::text, id::int FROM cabinet.event WHERE id = ${id}`)
  const before = await place()
  assert.deepStrictEqual(await payloadOf(id), { "X-Shop": "7", name: "\uFFFD\uFFFD\uFFFD\uFFFD" })
  await cabinet.events.reread([id], { encoding: "windows-1251" })
  assert.deepStrictEqual(await payloadOf(id), { "X-Shop": "7", name: "Анна" })
  assert.deepInclude(await rowOf(table, id), { name: "Анна", x_shop: "7", checked: "yes" })
  assert.deepStrictEqual(await place(), before)
  const plain = await cabinet.events.reread([after], { encoding: "windows-1251" }).catch((error: unknown) => error)
  assert.deepInclude(plain, { code: "not_reread" })
})

it("changed events are delivered again on request, and also where a filter had held them back", async () => {
  const source = await asBefore("Delivered", "latin-1")
  const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const filters = [{ fc: "city", fo: "eq", fv: "Москва" }] as const
  const some = await cabinet.addresses.create({ url: receiver.url, sources: [source.id], filters })
  const id = await post(source.intakeUrl, `city=${win("Москва")}`)
  const plain = await post(source.intakeUrl, "city=Berlin")
  const received = () =>
    receiver.received.map((one) => JSON.parse(one.body.toString())).filter(({ data }) => data.source.id === source.id)
  await receiver.until(() => received().length === 2)
  const later = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const settled = async () =>
    (await database.run(`SELECT 1 FROM cabinet.delivery_all WHERE event_id = ${id} AND state = 'delivered'`)).length
  while ((await settled()) < 1) await new Promise((resolve) => setImmediate(resolve))
  const done = await cabinet.events.rereadSource(source.id, { encoding: "windows-1251", deliver: true })
  assert.strictEqual(done.deliveries, 2)
  await receiver.until(() => received().length === 4)
  assert.deepStrictEqual(
    received()
      .slice(2)
      .map(({ data }) => [data.id, data.payload.city]),
    [
      [id, "Москва"],
      [id, "Москва"],
    ],
  )
  const sentTo = async (address: number) =>
    (
      await database.run(
        `SELECT DISTINCT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${address} ORDER BY 1`,
      )
    ).map((row) => row["id"])
  assert.deepStrictEqual(await Promise.all([all.id, some.id, later.id].map(sentTo)), [[id, plain], [id], []])
  assert.strictEqual(
    (await cabinet.events.rereadSource(source.id, { encoding: "windows-1251", deliver: true })).deliveries,
    0,
  )
})

it("an event that cannot be reread says why and stays unchanged", async () => {
  const source = await asBefore("Refused")
  const json = await post(source.intakeUrl, '{"name":"Анна"}', "application/json")
  const long = await post(source.intakeUrl, `name=${win("я").repeat(30_000)}`)
  const gone = await post(source.intakeUrl, `name=${win("Пётр")}`)
  const trashed = await post(source.intakeUrl, `name=${win("Павел")}`)
  const foreign = await post(source.intakeUrl, `name=${win("Мария")}&n=1`)
  const { id: own } = await cabinet.intake(source.id, { fields: { name: "Анна" } })
  await cabinet.events.trash(source.id, [trashed])
  await database.run(`DELETE FROM cabinet.original_request WHERE id = ${gone}`)
  await database.run(`UPDATE cabinet.event SET payload = '{"name":"Мария","n":"2"}' WHERE id = ${foreign}`)
  const readable = await post(source.intakeUrl, `name=${win("Ольга")}`)
  const ids = [json, long, gone, trashed, foreign, own]
  const { verdicts, example } = await cabinet.events.reread([...ids, readable], { encoding: "windows-1251" })
  assert.deepStrictEqual(
    verdicts.slice(0, -1).map(({ outcome, reason }) => [outcome as string, reason as string]),
    ["not_a_form", "cut_body", "no_original", "in_trash", "unexplained", "no_original"].map((reason) => [
      "refused",
      reason,
    ]),
  )
  assert.strictEqual(example, null)
  const failed = (work: Promise<unknown>) => work.catch((error: unknown) => error)
  assert.deepInclude(await failed(cabinet.events.reread([json, gone], { encoding: "koi8-r" })), {
    code: "not_reread",
    message: `Event ${json} cannot be read again: its body is JSON, which shows its own charset. Event ${gone} cannot be read again: it has no original request, or no longer.`,
  })
  assert.deepInclude(await failed(cabinet.events.reread([json], { encoding: "klingon" })), { code: "bad_encoding" })
  assert.deepInclude(await failed(cabinet.events.reread([999_999], { encoding: "utf-8" })), { code: "no_such_event" })
  assert.deepInclude(await failed(cabinet.events.rereadSource(999, { encoding: "utf-8" })), { code: "no_such_source" })
})

it("concurrent rereadings of one source in two processes keep event and row consistent, and deliver once", async () => {
  const source = await asBefore("Together", "latin-1")
  const address = await cabinet.addresses.create({ url: "http://127.0.0.1:9/", sources: [source.id] })
  await cabinet.addresses.pause(address.id)
  const ids: Array<number> = []
  for (let n = 0; n < 60; n++) ids.push(await post(source.intakeUrl, `name=${win(`Анна ${n}`)}`))
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      n % 2 === 0
        ? cabinets[0]!.events.reread(ids.toReversed(), { encoding: "windows-1251", deliver: true })
        : cabinets[1]!.events.rereadSource(source.id, { encoding: "windows-1251", deliver: true }),
    ).map((work) => work.catch((error: { code?: string }) => error)),
  )
  for (const one of outcomes) if (!("verdicts" in one)) assert.deepInclude(one, { code: "unavailable" })
  // A slow machine may have refused some requests.
  await cabinet.events.rereadSource(source.id, { encoding: "windows-1251", deliver: true })
  const rest = await cabinet.events.rereadSource(source.id, { encoding: "windows-1251", deliver: true })
  assert.strictEqual(rest.verdicts.filter(({ outcome }) => outcome === "unchanged").length, 60)
  const rows = await database.run(
    `SELECT t.name, e.payload->>'name' AS payload FROM sources.${source.table} t JOIN cabinet.event e ON e.id = t._event_id ORDER BY e.id`,
  )
  assert.deepStrictEqual(
    rows,
    ids.map((_, n) => ({ name: `Анна ${n}`, payload: `Анна ${n}` })),
  )
  const due = await database.run(`SELECT event_id FROM cabinet.delivery WHERE address_id = ${address.id}`)
  assert.strictEqual(due.length, 60)
})

it("a row that the database refuses is set aside with its event corrected, and the others are written", async () => {
  const source = await asBefore("Constrained", "latin-1")
  const first = await post(source.intakeUrl, `name=${win("Анна")}`)
  const second = await post(source.intakeUrl, `name=${win("Пётр")}`)
  await database.run(`ALTER TABLE sources.${source.table} ADD CONSTRAINT no_anna CHECK (name <> 'Анна')`)
  const { verdicts } = await cabinet.events.rereadSource(source.id, { encoding: "windows-1251" })
  assert.deepStrictEqual(
    verdicts.map(({ outcome }) => outcome),
    ["changed", "changed"],
  )
  assert.deepStrictEqual(await payloadOf(first), { name: "Анна" })
  assert.match((await cabinet.events.inspect(first))!.rowSetAside!, /no_anna/)
  assert.deepInclude(await rowOf(source.table, second), { name: "Пётр" })
  await database.run(`ALTER TABLE sources.${source.table} DROP CONSTRAINT no_anna`)
})

it("pages of a source continue where the last one ended, and a cursor belongs to its options", async () => {
  const source = await asBefore("Pages", "latin-1")
  for (let n = 0; n < 5; n++) await post(source.intakeUrl, `name=${win(`Анна ${n}`)}`)
  const settings = { encoding: "windows-1251", limit: 2 }
  const first = await cabinet.events.rereadSource(source.id, settings)
  assert.deepInclude(first, { seen: 2 })
  const foreign = cabinet.events.rereadSource(source.id, { ...settings, encoding: "koi8-r", cursor: first.nextCursor! })
  assert.deepInclude(await foreign.catch((error: unknown) => error), { code: "bad_cursor" })
  let seen = 0
  for (let cursor: string | null = first.nextCursor; cursor !== null;) {
    const page = await cabinet.events.rereadSource(source.id, { ...settings, cursor })
    seen += page.verdicts.length
    cursor = page.nextCursor
  }
  assert.strictEqual(seen, 3)
})

it("an event that reads differently is judged again by its source's own schema, as it is now", async () => {
  const {
    id: sourceId,
    intakeUrl,
    table,
  } = await cabinet.sources.create({
    name: "Judged",
    encoding: "latin-1",
    schema: '{"properties":{"name":{"pattern":"^[А-я]*$"}}}',
  })
  const only = { filters: [{ fc: "_valid", fo: "ne", fv: "false" }] } as const
  const agreed = await cabinet.addresses.create({ url: receiver.url, sources: [sourceId], ...only })
  const wrong = await post(intakeUrl, `name=${win("Анна")}`)
  assert.deepStrictEqual(Object.keys(await payloadOf(wrong)), ["name", "_valid", "_schema_error"])
  await cabinet.events.reread([wrong], { encoding: "windows-1251", deliver: true })
  assert.deepStrictEqual(await payloadOf(wrong), { name: "Анна" })
  assert.deepInclude(await rowOf(table!.name, wrong), { name: "Анна", _valid: null, _schema_error: null })
  assert.deepStrictEqual(
    await database.run(`SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${agreed.id}`),
    [{ id: wrong }],
  )
  await cabinet.sources.change(sourceId, { schema: '{"properties":{"name":{"maxLength":3}}}' })
  // It reads as before, so it keeps the judgement that it had.
  await cabinet.events.reread([wrong], { encoding: "windows-1251" })
  assert.deepStrictEqual(await payloadOf(wrong), { name: "Анна" })
  await cabinet.events.reread([wrong], { encoding: "koi8-r" })
  const marked = { _valid: false, _schema_error: "/name must have at most 3 characters" }
  assert.deepStrictEqual(await payloadOf(wrong), {
    name: iconv.decode(iconv.encode("Анна", "win1251"), "koi8-r"),
    ...marked,
  })
  assert.deepInclude(await rowOf(table!.name, wrong), marked)
})

it("a rereading whose session is killed while rows are written leaves every event as it was, and a later call completes it", async () => {
  const source = await asBefore("Killed", "latin-1")
  const ids: Array<number> = []
  for (let n = 0; n < 4; n++) ids.push(await post(source.intakeUrl, `name=${win(`Анна ${n}`)}`))
  await database.run(`CREATE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name = 'Анна 2' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); END IF; RETURN NEW; END $$`)
  await database.run(
    `CREATE TRIGGER die BEFORE UPDATE ON sources.${source.table} FOR EACH ROW EXECUTE FUNCTION public.die()`,
  )
  const pairs = () =>
    database.run(
      `SELECT t.name, e.payload->>'name' AS payload FROM sources.${source.table} t JOIN cabinet.event e ON e.id = t._event_id ORDER BY e.id`,
    )
  const before = await pairs()
  const killed = await cabinet.events
    .rereadSource(source.id, { encoding: "windows-1251" })
    .catch((error: unknown) => error)
  assert.deepInclude(killed, { code: "unavailable" })
  assert.deepStrictEqual(await pairs(), before)
  assert.deepInclude(await encodingOf(ids[0]!), { charset: "windows-1252", charsetFrom: "source" })
  await database.run(`DROP TRIGGER die ON sources.${source.table}`)
  await database.run("DROP FUNCTION public.die")
  await cabinet.events.rereadSource(source.id, { encoding: "windows-1251" })
  assert.deepStrictEqual(
    await pairs(),
    ids.map((_, n) => ({ name: `Анна ${n}`, payload: `Анна ${n}` })),
  )
})
