/** The indexes of a table on the console's screens: created, shown while they are built, and dropped. */
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { rawSession } from "../support/rawSession.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 20)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
})
afterAll(() => cabinet.close())

const TABLE = "/console/tables/sources/orders"
const INDEXES = `${TABLE}/indexes`

/** Waits until the build's own process has noticed its end. */
const idle = () =>
  expect.poll(async () => (await viewer.get(INDEXES)).text, { timeout: 120_000 }).not.toContain("data-again")

it("the search index is created, shown as the API has it, rebuilt and dropped", async () => {
  assert.include((await viewer.get(TABLE)).text, `href="/data${INDEXES}"`)
  const before = (await viewer.get(INDEXES)).text
  assert.include(before, "This table has no search index.")
  assert.notInclude(before, "<form")
  assert.strictEqual((await viewer.post(`${INDEXES}/search`, {})).status, 403)
  const done = await editor.post(`${INDEXES}/search`, {})
  assert.strictEqual(done.headers.get("location"), `/data${INDEXES}`)
  await idle()
  const { data } = (await viewer.manage("GET", "tables/sources/orders/search-index")).json
  assert.lengthOf(data, 1)
  assert.include(data[0], { valid: true, complete: true, progress: null })
  const shown = (await editor.get(INDEXES)).text
  assert.include(shown, data[0].name)
  assert.include(shown, ">ready<")
  assert.notInclude(shown, `${INDEXES}/search"`)
  await fetch(cabinet.source.intakeUrl, { method: "POST", body: new URLSearchParams({ newer: "column" }) })
  assert.include((await editor.get(INDEXES)).text, "out of date, not used")
  assert.strictEqual((await editor.post(`${INDEXES}/search`, {})).status, 303)
  await idle()
  assert.include((await editor.get(INDEXES)).text, ">ready<")
  assert.strictEqual((await editor.post(`${INDEXES}/search/drop`, {})).status, 303)
  assert.include((await editor.get(INDEXES)).text, "This table has no search index.")
})

it("a long build continues after its response, and the screen shows it until it ends, or why it failed", async () => {
  for (const [act, shown] of [
    [`${INDEXES}/search`, INDEXES],
    [`${TABLE}/columns/total/index`, `${TABLE}/columns/total`],
  ] as const) {
    const holding = await rawSession(database)
    // A build waits for the transactions that may have written to the table.
    await holding.executeWithoutSync("DELETE FROM sources.orders WHERE false")
    assert.strictEqual((await editor.post(act, {})).status, 303)
    // PostgreSQL shows a build a moment after it was begun.
    await expect.poll(async () => (await editor.get(shown)).text).toContain('<progress max="1"')
    const building = (await editor.get(shown)).text
    assert.include(building, "data-again")
    assert.notInclude(building, `action="/data${act}"`)
    // Pressing the button again starts no second build.
    assert.strictEqual((await editor.post(act, {})).status, 303)
    const builds = "SELECT count(*)::int AS n FROM pg_stat_progress_create_index WHERE datname = current_database()"
    await expect.poll(() => runSql(database.url, builds)).toEqual([{ n: 1 }])
    await runSql(
      database.url,
      "SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()",
    )
    await expect.poll(async () => (await editor.get(shown)).text, { timeout: 120_000 }).not.toContain("data-again")
    const failed = (await editor.get(shown)).text
    holding.end()
    assert.include(failed, 'class="box error"')
    assert.strictEqual((await editor.post(act, {})).status, 303)
    await expect.poll(async () => (await editor.get(shown)).text, { timeout: 120_000 }).not.toContain("data-again")
    const built = (await editor.get(shown)).text
    assert.notInclude(built, 'class="box error"')
    assert.include(built, ">ready<")
  }
})

it("an index of several columns is created and dropped, and an unindexable column is refused with a message", async () => {
  const build = (columns: ReadonlyArray<string>) =>
    fetch(`${cabinet.base}${INDEXES}/build`, {
      method: "POST",
      redirect: "manual",
      headers: { ...headers, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(columns.map((column): [string, string] => ["column", column])),
    })
  const headers = await cabinet.as("editor")
  assert.strictEqual((await build(["paid", "total", ""])).status, 303)
  await idle()
  const shown = (await editor.get(INDEXES)).text
  const [, index] = /<bdi>paid, total, _event_id<\/bdi>.*?name="index" value="(cabinet_index_[\d_]+)"/s.exec(shown)!
  const refused = await build(["customer", "total"])
  assert.strictEqual(refused.status, 409)
  assert.include(await refused.text(), "<code>not_indexable</code>")
  assert.strictEqual((await build(["", "", ""])).status, 409)
  assert.strictEqual((await viewer.post(`${INDEXES}/drop`, { index: index! })).status, 403)
  assert.strictEqual((await editor.post(`${INDEXES}/drop`, { index: index! })).status, 303)
  assert.notInclude((await editor.get(INDEXES)).text, index!)
})

it("an index of other columns is refused with a message while one is being built, never silently forgotten", async () => {
  const holding = await rawSession(database)
  await holding.executeWithoutSync("DELETE FROM sources.orders WHERE false")
  const build = (column: string) => editor.post(`${INDEXES}/build`, { column })
  assert.strictEqual((await build("paid")).status, 303)
  const refused = await build("total")
  assert.include(refused.text, "<code>busy</code>")
  holding.end()
  await idle()
  assert.strictEqual((await build("total")).status, 303)
})

it("a view is offered no indexes; a search of a large table without one says so", async () => {
  await cabinet.cabinet.tables.addLatestView("sources.orders", { keys: ["customer"] })
  const view = "/console/tables/public/orders_latest"
  assert.notInclude((await editor.get(view)).text, "orders_latest/indexes")
  const refused = await editor.post(`${view}/indexes/search`, {})
  assert.include(refused.text, "<code>not_indexable</code>")
  assert.strictEqual((await editor.get("/console/tables/public/nothing/indexes")).status, 404)
  await editor.post(`${INDEXES}/search/drop`, {})
  const said = "This search reads the whole table."
  assert.notInclude((await editor.get(`${TABLE}?q=Ada`)).text, said)
  await database.run("UPDATE pg_class SET reltuples = 100000, relpages = 1000 WHERE oid = 'sources.orders'::regclass")
  const searched = (await viewer.get(`${TABLE}?q=Ada`)).text
  assert.include(searched, `${said} <a href="/data${INDEXES}">`)
  assert.notInclude((await viewer.get(TABLE)).text, said)
})
