import { CabinetError, type Cabinet, type ImportProgress, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet

beforeAll(async () => {
  cabinet = await openCabinet({ databaseUrl: database.url, baseUrl: "http://shop.example", delivery: false })
})
afterAll(() => cabinet.close())

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

it("events are inspected, trashed, restored and erased", async () => {
  const { id, intakeUrl } = await cabinet.sources.create({ name: "Events" })
  const sent = await cabinet.fetchHandler(
    new Request(intakeUrl, {
      method: "POST",
      body: '{"n": 12345678901234567890}',
      headers: { "content-type": "application/json" },
    }),
  )
  const { id: eventId } = (await sent.json()) as { id: number }
  const found = await cabinet.events.inspect(eventId)
  expect(found).toMatchObject({
    event: { id: eventId, source: { id, name: "Events" } },
    rowWaits: false,
    deliveries: [],
  })
  expect(found!.event.text).toContain("12345678901234567890")
  expect(Buffer.from(found!.original!.body).toString()).toBe('{"n": 12345678901234567890}')
  expect(await cabinet.events.inspect(1_000_000)).toBeNull()

  expect(await cabinet.events.trash(id, [eventId])).toBe(1)
  expect((await cabinet.rows("sources.events")).rows).toEqual([])
  expect(await cabinet.events.untrash(id, [eventId])).toBe(1)
  const rows = async () => (await cabinet.rows("sources.events", { col: "_event_id" })).rows
  await expect.poll(rows).toEqual([{ _event_id: eventId }])
  expect(await cabinet.events.purge([eventId])).toBe(1)
  expect((await cabinet.events.inspect(eventId))!.event.payload).toEqual({})
})

it("rows are read page by page or all of them, with every digit in their texts", async () => {
  const { id } = await cabinet.sources.create({ name: "Numbers" })
  for (const n of [1, 2, 3]) await cabinet.intake(id, { fields: { n, big: 10n ** 20n + BigInt(n) } })
  const first = await cabinet.rows("sources.numbers", { col: ["n"], sort: "n", limit: 2 })
  expect(first).toMatchObject({ rows: [{ n: 1 }, { n: 2 }], hasMore: true })
  const last = await cabinet.rows("sources.numbers", { col: ["n"], sort: "n", limit: 2, cursor: first.nextCursor! })
  expect(last).toMatchObject({ rows: [{ n: 3 }], hasMore: false, nextCursor: null })
  expect(await collect(cabinet.allRows("sources.numbers", { col: "n", sort: "n", dir: "desc", limit: 1 }))).toEqual([
    { n: 3 },
    { n: 2 },
    { n: 1 },
  ])
  const { texts } = await cabinet.rows("sources.numbers", { fc: ["n"], fo: ["eq"], fv: [2], col: "big" })
  expect(texts).toEqual(['{"big":100000000000000000002}'])
})

it("tables, columns and the author's SQL work together", async () => {
  const { id } = await cabinet.sources.create({ name: "Orders" })
  await cabinet.intake(id, { fields: { total: "12.50" } })
  await cabinet.intake(id, { fields: { total: "soon" } })
  expect(await cabinet.columns.list(id)).toMatchObject([{ name: "total", type: "text", label: "total" }])
  expect(await cabinet.columns.relabel(id, "total", "Sum")).toMatchObject({ name: "total", label: "Sum" })
  const retyped = await cabinet.columns.retype(id, "total", "numeric")
  expect(retyped).toMatchObject({ column: { type: "numeric" }, moved: 1, sibling: "total_text" })
  const trial = await cabinet.columns.tryRetype(id, "total_text", "numeric", { numbers: "comma" })
  expect(trial).toMatchObject({ misfits: 1, sibling: "total_text_text" })

  const [, selected] = await cabinet.sql(
    "CREATE VIEW public.sums AS SELECT total FROM sources.orders WHERE total > 1; SELECT total FROM public.sums",
  )
  expect(selected).toMatchObject({ rows: [{ total: 12.5 }], texts: ['{"total":12.50}'], count: 1 })
  expect((await cabinet.tables.list()).map(({ schema, name }) => `${schema}.${name}`)).toContain("public.sums")
  expect(await cabinet.tables.get("public.sums")).toMatchObject({ kind: "view", columns: [{ name: "total" }] })
  expect(await cabinet.tables.get("public.nothing")).toBeNull()
  const shown = await cabinet.tables.addLatestView("public.sums", { keys: ["total"], by: "total", dryRun: true })
  expect(shown).toMatchObject({ view: "public.sums_latest", created: false })
  const view = { keys: ["total"], by: "total", view: "public.last_sums" }
  expect(await cabinet.tables.addLatestView("public.sums", view)).toMatchObject({ view: view.view, created: true })
  await expect(cabinet.tables.addLatestView("public.sums", view)).rejects.toMatchObject({ code: "view_failed" })
  await cabinet.sql("DROP VIEW public.last_sums")
  const retype = (withViews: boolean) => cabinet.columns.retype(id, "total", "text", { withViews })
  await expect(retype(false)).rejects.toMatchObject({ code: "views_depend" })
  // The view compares with a number, so it cannot be recreated over a text; nothing may have changed then.
  const refused = await retype(true).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: "views_depend", message: expect.stringContaining("nothing was changed") })
  expect((await cabinet.rows("public.sums")).rows).toEqual([{ total: 12.5 }])
  await cabinet.sql("CREATE OR REPLACE VIEW public.sums AS SELECT total FROM sources.orders")
  expect(await retype(true)).toMatchObject({ column: { type: "text" }, views: ["public.sums"] })
  expect((await cabinet.rows("public.sums", { fc: "total", fo: "notempty" })).rows).toEqual([{ total: "12.50" }])
})

it("an existing schema is exposed to readers and hidden again", async () => {
  const owner = new URL(database.url).username
  await database.run(`CREATE SCHEMA old AUTHORIZATION ${owner}`)
  await database.run("CREATE TABLE old.things (id int PRIMARY KEY)")
  await database.run(`ALTER TABLE old.things OWNER TO ${owner}`)
  expect(await cabinet.tables.get("old.things")).toBeNull()
  expect(await cabinet.tables.expose("old")).toBe(1)
  expect(await cabinet.tables.get("old.things")).toMatchObject({ key: ["id"] })
  expect(await cabinet.tables.addSearchIndex("old.things")).toMatchObject({ built: true })
  expect(await cabinet.tables.searchIndexes("old.things")).toMatchObject([{ valid: true, complete: true }])
  expect(await cabinet.tables.dropSearchIndex("old.things")).toBe(1)
  await database.run("ALTER TABLE old.things ADD COLUMN n int")
  const { index } = await cabinet.tables.addIndex("old.things", ["n"])
  expect(await cabinet.tables.indexes("old.things")).toMatchObject([{ name: index, columns: ["n", "id"], valid: true }])
  expect(await cabinet.tables.dropIndex("old.things", index)).toMatchObject({ name: index })
  expect(await cabinet.tables.hide("old")).toBe(0)
  expect(await cabinet.tables.get("old.things")).toBeNull()
})

it("a file is imported with its progress reported, and recognised the second time", async () => {
  const { id } = await cabinet.sources.create({ name: "Files" })
  const bytes = new TextEncoder().encode("name,age\nAda,36\nAlan,41\n")
  const phases: Array<ImportProgress["phase"]> = []
  const report = await cabinet.imports.file(
    id,
    { name: "people.csv", bytes },
    {
      onProgress: ({ phase }) => void phases.push(phase),
    },
  )
  expect(report).toMatchObject({ state: "done", rows: 2, accepted: 2 })
  expect(new Set(phases)).toEqual(new Set(["looking", "staging", "accepting"]))
  expect(await cabinet.imports.list(1)).toMatchObject([{ sourceId: id, name: "people.csv", state: "done" }])
  await expect(cabinet.imports.file(id, { name: "again.csv", bytes })).rejects.toMatchObject({ code: "same_file" })
})

it("sources and polls are listed whole, or as a page", async () => {
  const { id } = await cabinet.sources.create({ name: "Listed" })
  await cabinet.sources.create({ name: "Also listed" })
  await database.run(`INSERT INTO cabinet.poll (source_id, url, every_seconds, paused_at)
    SELECT ${id}, 'https://example.com/' || n, 60, now() FROM generate_series(1, 2) n`)
  for (const { list } of [cabinet.sources, cabinet.polls]) {
    const [first, second, ...rest] = await list()
    expect(await list({ limit: 1 })).toEqual([first])
    expect(await list({ after: first!.id, limit: 1 })).toEqual([second])
    expect(await list({ after: second!.id })).toEqual(rest)
  }
  for (const poll of await cabinet.polls.list()) await cabinet.polls.remove(poll.id)
})

it("tokens and keys are issued, listed without their secret, and revoked", async () => {
  const { token, ...listed } = await cabinet.tokens.create({ name: "loader", role: "editor", expiresInSeconds: 3600 })
  expect(token).toMatch(/^dco_/)
  expect(await cabinet.tokens.list()).toEqual([listed])
  expect(listed).toMatchObject({ role: "editor", expiresAt: expect.any(String) })
  expect(await cabinet.tokens.revoke(listed.id)).toMatchObject({ revokedAt: expect.any(String) })
  const { key, ...issued } = await cabinet.keys.create({ name: "reader" })
  expect(key).toMatch(/^dck_/)
  expect(await cabinet.keys.list()).toEqual([issued])
  expect(await cabinet.keys.revoke(issued.id)).toMatchObject({ revokedAt: expect.any(String) })
})

it("activity counts events by the hour and day, and reports the state of sources and deliveries", async () => {
  // At noon, because no day may begin meanwhile.
  await database.run("UPDATE cabinet.clock SET shift = date_trunc('day', now(), 'UTC') + interval '36 hours' - now()")
  const { id } = await cabinet.sources.create({ name: "Counted" })
  for (const n of [1, 2, 2]) await cabinet.intake(id, { fields: { n } })
  await expect
    .poll(async () => (await cabinet.activity.events({ step: "day", sourceId: id })).at(-1), { timeout: 120_000 })
    .toMatchObject({ events: 3, repeats: 1, empty: 0, history: 0 })
  const { hours, sources, deliveries, waiting } = await cabinet.activity.overview()
  expect(hours).toHaveLength(48)
  expect(sources.find(({ sourceId }) => sourceId === id)).toMatchObject({ quiet: false, days: [0, 0, 0, 0, 0, 0, 3] })
  expect([deliveries.delivered, waiting]).toEqual([0, []])
})

it("diagnostics describes the database", async () => {
  expect(await cabinet.diagnostics()).toMatchObject({ database: database.name, isStandby: false, deferredRows: 0 })
})

it("every refusal is a CabinetError with a code, and the parameter at fault where there is one", async () => {
  const circle: Record<string, unknown> = {}
  circle["self"] = circle
  const { id } = await cabinet.sources.create({ name: "Refusals" })
  const refused: ReadonlyArray<readonly [call: () => Promise<unknown>, expected: Record<string, unknown>]> = [
    [() => cabinet.sources.create({ name: "" }), { code: "bad_name" }],
    [() => cabinet.sources.reveal(999), { code: "no_such_source" }],
    [() => cabinet.keys.revoke(999), { code: "no_such_key" }],
    [() => cabinet.tokens.create({ name: "", role: "viewer" }), { code: "bad_name" }],
    [() => cabinet.addresses.create({ url: "http://127.0.0.1/" }), { code: "not_public" }],
    [() => cabinet.addresses.ping(999), { code: "no_such_address" }],
    [() => cabinet.polls.create({ sourceId: id, url: "http://10.0.0.1/", everySeconds: 60 }), { code: "not_public" }],
    [() => cabinet.polls.run(999), { code: "no_such_poll" }],
    [() => cabinet.activity.events({ step: "hour", from: "x" }), { code: "bad_period", param: "from" }],
    [() => cabinet.activity.events({ step: "hour", sourceId: 999 }), { code: "no_such_source", param: "source_id" }],
    [() => cabinet.imports.file(id, "/no/such/file.csv"), { code: "unreadable" }],
    [() => cabinet.intake(id, { fields: circle }), { code: "bad_fields" }],
    [() => cabinet.events.trash(id, [999_999]), { code: "no_such_event" }],
    [() => cabinet.columns.list(999), { code: "no_such_source" }],
    [() => cabinet.tables.expose("nowhere"), { code: "no_such_schema" }],
    [() => cabinet.tables.addSearchIndex("public.nothing"), { code: "no_such_table" }],
    [() => cabinet.tables.addIndex("public.nothing", ["n"]), { code: "no_such_table" }],
    [() => cabinet.tables.addLatestView("sources.refusals", { keys: [] }), { code: "bad_columns" }],
    [
      () => cabinet.tables.addLatestView("sources.refusals", { keys: ["_event_id"], view: "x" }),
      { code: "bad_view_name" },
    ],
    [() => cabinet.sql("SELECT * FROM cabinet.api_key"), { code: "script_failed" }],
    [() => cabinet.rows("sources.refusals", { sort: "nothing" }), { code: "unknown_column", param: "sort" }],
    [() => cabinet.rows("refusals"), { code: "no_such_table", param: undefined }],
    [() => collect(cabinet.feed({ after: "elsewhere" })), { code: "bad_cursor", param: "cursor" }],
    [() => collect(cabinet.feed({ sourceId: 999 })), { code: "no_such_source", param: "source_id" }],
  ]
  for (const [call, expected] of refused) {
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error, call.toString()).toBeInstanceOf(CabinetError)
    expect(error, call.toString()).toBeInstanceOf(Error)
    expect(error, call.toString()).toMatchObject({ name: "CabinetError", ...expected })
    expect((error as Error).message, call.toString()).toMatch(/^\S.*\s.*\S$/s)
    expect((error as Error).stack, call.toString()).toContain("Calls.test.ts")
  }
})

it("an internal fault becomes an internal_error with the fault as its cause", async () => {
  const error = await cabinet.sources.create({ name: Symbol("no text") as never }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(CabinetError)
  expect(error).toMatchObject({ code: "internal_error", cause: expect.any(Error) })
})
