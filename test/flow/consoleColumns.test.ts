/** Columns in the console: moving, relabelling, and changing the type after a dry run. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  const totals = ['"12.50"', '"about 3"', '"<b>7</b>"', '"1e5"', '"99.90"', "null"]
  const items = totals.map((total) => `{"total":${total},"note":"x","city":"Łódź"}`)
  const headers = { "content-type": "application/json" }
  const sent = await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: `[${items.join()}]` })
  assert.strictEqual(sent.status, 200, await sent.text())
})
afterAll(() => cabinet.close())

const TABLE = "/console/tables/sources/orders"

/** The links of a column's menu, by their text. */
const menuOf = async (screen: string, column: string, by: Visitor = viewer): Promise<ReadonlyMap<string, string>> => {
  const [, address = ""] = new RegExp(`href="/data([^"]*/menu\\?column=${column}(?:&[^"]*)?)"`).exec(screen) ?? []
  const { text: menu } = await by.get(address.replaceAll("&amp;", "&"))
  assert.include(menu, `<p class="soft mono">${column} · `)
  const links = [...menu.matchAll(/<a class="item" href="\/data([^"]*)"[^>]*>(?:<svg.*?<\/svg>)\s*([^<]*)<\/a>/g)]
  return new Map(links.map(([, href, text]) => [text!, href!.replaceAll("&amp;", "&")]))
}

const shownIn = (screen: string): ReadonlyArray<string> =>
  [...screen.matchAll(/\/menu\?column=(\w+)/g)].map(([, name]) => name!)

it("each link moves a column by one position, with the API's parameters in its URL", async () => {
  const names = shownIn((await viewer.get(TABLE)).text)
  assert.deepStrictEqual(names, ["_event_id", "_received_at", "total", "note", "city"])
  let path = (await menuOf((await viewer.get(TABLE)).text, "city")).get("Move left")!
  let screen = (await viewer.get(path)).text
  assert.deepStrictEqual(shownIn(screen), ["_event_id", "_received_at", "total", "city", "note"])
  path = (await menuOf(screen, "city")).get("Move left")!
  screen = (await viewer.get(path)).text
  assert.deepStrictEqual(shownIn(screen), ["_event_id", "_received_at", "city", "total", "note"])
  path = (await menuOf(screen, "_event_id")).get("Move right")!
  screen = (await viewer.get(path)).text
  assert.deepStrictEqual(shownIn(screen), ["_received_at", "_event_id", "city", "total", "note"])
  assert.isFalse((await menuOf(screen, "_received_at")).has("Move left"))
  assert.isFalse((await menuOf(screen, "note")).has("Move right"))
  const listed = (await viewer.get(`${TABLE}?col=note&col=total`)).text
  assert.strictEqual((await menuOf(listed, "note")).get("Move right"), `${TABLE}?col=total&col=note`)
})

it("filtering a text column by a number says that it compares text, and links to the change of the type", async () => {
  const said = "Sorted and compared as text: 9.50 comes after 10."
  const note = (screen: string) => screen.split("<table")[0]!.includes(`<b>total</b>: ${said}`)
  const filtered = (await viewer.get(`${TABLE}?fc=total&fo=ge&fv=10`)).text
  assert.isTrue(note(filtered))
  assert.include(filtered, `href="/data${TABLE}/columns/total?type=numeric">Compare as numbers</a>`)
  assert.isFalse(note((await viewer.get(`${TABLE}?fc=total&fo=ge&fv=ten`)).text))
  assert.isFalse(note((await viewer.get(`${TABLE}?fc=total&fo=eq&fv=10`)).text))
  assert.notInclude((await viewer.get(`${TABLE}?fc=_event_id&fo=ge&fv=10`)).text, "Compare as numbers")
  const { text: menu } = await viewer.get(`${TABLE}/menu?column=total`)
  assert.include(menu, said)
})

it("a new type shows the values that do not fit, and changes nothing before it is confirmed", async () => {
  const path = (await menuOf((await editor.get(TABLE)).text, "total", editor)).get("Label and type")!
  assert.strictEqual(path, `${TABLE}/columns/total`)
  const tried = (await editor.get(`${path}?type=numeric`)).text
  assert.include(tried, "3 values do not fit and would move to the column total_text.")
  for (const value of ["about 3", "&lt;b&gt;7&lt;/b&gt;", "1e5"]) assert.include(tried, `<bdi>${value}</bdi>`)
  assert.notInclude(tried, "<b>7</b>")
  const typeNow = async () =>
    (await runSql(database.url, "SELECT type FROM cabinet.field_column WHERE name = 'total'"))[0]!["type"]
  assert.strictEqual(await typeNow(), "text")
  const answered = await editor.manage("GET", `sources/${cabinet.source.id}/columns/total/retype?type=numeric`)
  assert.strictEqual(answered.json.misfits, 3, answered.text)
  assert.deepStrictEqual(answered.json.examples[0], { event_id: 2, value: "about 3" })
  assert.deepStrictEqual([answered.json.sibling, answered.json.views], ["total_text", []])
  const done = await editor.post(`${path}/retype`, { type: "numeric" })
  assert.strictEqual(done.headers.get("location"), `/data${path}`)
  assert.strictEqual(await typeNow(), "numeric")
  const moved = await runSql(database.url, "SELECT total_text FROM sources.orders WHERE total_text IS NOT NULL")
  assert.strictEqual(moved.length, answered.json.misfits)
  assert.include((await editor.get(`${path}?type=numeric`)).text, "It has this type already.")
})

it("a retype names a dependent view, and keeps it", async () => {
  await runSql(database.url, "CREATE VIEW public.notes AS SELECT note FROM sources.orders")
  const tried = (await editor.get(`${TABLE}/columns/note?type=jsonb`)).text
  assert.include(tried, "Every value fits.")
  assert.include(tried, "public.notes")
  await editor.post(`${TABLE}/columns/note/retype`, { type: "jsonb" })
  const [row] = await runSql(database.url, "SELECT note::text AS note FROM public.notes LIMIT 1")
  assert.strictEqual(row!["note"], '"x"')
  await runSql(database.url, "ALTER TABLE sources.orders ADD COLUMN loud text GENERATED ALWAYS AS (upper(city)) STORED")
  const refused = await editor.get(`${TABLE}/columns/city?type=jsonb`)
  assert.strictEqual(refused.status, 409)
  assert.include(refused.text, "<code>objects_depend</code>")
  assert.notInclude(refused.text, `${TABLE}/columns/city/retype`)
})

it("a label is the column's heading, with any content", async () => {
  const path = `${TABLE}/columns/city`
  await editor.post(`${path}/label`, { label: '<i>"Город" \u202e' })
  const table = (await viewer.get(TABLE)).text
  assert.include(table, "&lt;i&gt;")
  assert.notInclude(table, "<i>&quot;")
  const refused = await editor.post(`${path}/label`, { label: " " })
  assert.strictEqual(refused.status, 400)
  assert.include(refused.text, "<code>bad_label</code>")
})

it("a text column is tried and changed in the chosen notation", async () => {
  const headers = { "content-type": "application/json" }
  const body = '[{"paid":"1.234,50","on":"02.03.2026"},{"paid":"1.5","on":"02.03.26"}]'
  assert.strictEqual((await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body })).status, 200)
  const path = `${TABLE}/columns/paid`
  assert.include((await editor.get(path)).text, '<select name="numbers"><option value="" selected>not said</option>')
  const tried = (await editor.get(`${path}?type=numeric&numbers=comma&dates=`)).text
  assert.include(tried, "1 value does not fit and would move to the column paid_text.")
  assert.include(tried, '<option value="comma" selected>1.234,50</option>')
  assert.include(tried, '<input type="hidden" name="numbers" value="comma">')
  assert.strictEqual((await editor.post(`${path}/retype`, { type: "numeric", numbers: "comma" })).status, 303)
  const put = `sources/${cabinet.source.id}/columns/on`
  const changed = await editor.manage("PATCH", put, { type: "date", dates: "dmy" })
  assert.strictEqual(changed.json.moved, 1, changed.text)
  const [row] = await runSql(database.url, 'SELECT paid::text, "on"::text FROM sources.orders WHERE paid IS NOT NULL')
  assert.deepEqual(row, { paid: "1234.50", on: "2026-03-02" })
  const refused = await editor.get(`${TABLE}/columns/paid_text?type=date&numbers=dot`)
  assert.strictEqual(refused.status, 400)
  assert.include(refused.text, "<code>bad_notation</code>")
  assert.strictEqual((await editor.manage("PATCH", put, { label: "On", dates: "dmy" })).status, 400)
  assert.strictEqual((await editor.manage("GET", `${put}/retype?type=date&dates=ydm`)).status, 400)
  const numeric = (await editor.get(path)).text
  assert.include(numeric, '<select name="type">')
  assert.notInclude(numeric, '<select name="numbers">')
})

it("a column without values is dropped after a confirmation, and one with values is refused with a message", async () => {
  const headers = { "content-type": "application/json" }
  const sent = await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: '{"spare":"1"}' })
  const { id } = (await sent.json()) as { id: number }
  const path = `${TABLE}/columns/spare`
  const refused = await editor.post(`${path}/drop`, {})
  assert.strictEqual(refused.status, 409)
  assert.include(refused.text, "<code>column_filled</code>")
  const trashed = await editor.manage("POST", "events/trash", { source_id: cabinet.source.id, events: [id] })
  assert.strictEqual(trashed.status, 200, trashed.text)
  const screen = (await editor.get(path)).text
  assert.include(screen, '<details class="card"><summary>Drop this column</summary>')
  assert.notInclude((await viewer.get(path)).text, "Drop this column")
  assert.strictEqual((await viewer.post(`${path}/drop`, {})).status, 403)
  const forbidden = await viewer.manage("DELETE", `sources/${cabinet.source.id}/columns/spare`)
  assert.strictEqual(forbidden.status, 403)
  const done = await editor.post(`${path}/drop`, {})
  assert.strictEqual(done.headers.get("location"), `/data${TABLE}`)
  assert.strictEqual((await editor.get(path)).status, 404)
  const again = await editor.manage("DELETE", `sources/${cabinet.source.id}/columns/spare`)
  assert.deepStrictEqual([again.status, again.json.error.code], [404, "no_such_column"])
  await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: '{"spare":"2"}' })
  const [row] = await runSql(database.url, "SELECT spare FROM sources.orders WHERE spare IS NOT NULL")
  assert.deepEqual(row, { spare: "2" })
})

it("column settings are neither offered nor allowed to viewers, or for columns without settings", async () => {
  const screen = (await viewer.get(`${TABLE}/columns/total?type=text`)).text
  assert.notInclude(screen, "<form")
  assert.strictEqual((await viewer.post(`${TABLE}/columns/total/retype`, { type: "text" })).status, 403)
  const tried = await viewer.manage("GET", `sources/${cabinet.source.id}/columns/total/retype?type=text`)
  assert.strictEqual(tried.status, 403)
  assert.strictEqual((await editor.post(`${TABLE}/columns/total/retype`, { type: "int" })).status, 400)
  assert.strictEqual((await editor.get(`${TABLE}/columns/_event_id`)).status, 404)
  assert.strictEqual((await editor.get(`${TABLE}/columns/nothing?type=text`)).status, 404)
  assert.strictEqual((await editor.get("/console/tables/public/notes/columns/note")).status, 404)
  const missing = await editor.manage("GET", `sources/${cabinet.source.id}/columns/total/retype`)
  assert.strictEqual(missing.status, 400)
})

it("an index of a column is created, shown and dropped; a viewer sees it but may not change it", async () => {
  const path = `${TABLE}/columns/note`
  assert.include((await viewer.get(path)).text, "No index was created for it.")
  assert.notInclude((await viewer.get(path)).text, "Create an index")
  assert.strictEqual((await viewer.post(`${path}/index`, {})).status, 403)
  assert.strictEqual((await editor.post(`${path}/index`, {})).status, 303)
  const shown = (await editor.get(path)).text
  const [, index] = /name="index" value="(cabinet_index_[\d_]+)"/.exec(shown)!
  assert.include(shown, ">ready<")
  assert.notInclude(shown, "Create an index")
  assert.notInclude((await viewer.get(path)).text, 'name="index"')
  assert.strictEqual((await viewer.post(`${path}/index/drop`, { index: index! })).status, 403)
  assert.strictEqual((await editor.post(`${path}/index/drop`, { index: "orders_pkey" })).status, 404)
  assert.strictEqual((await editor.post(`${path}/index/drop`, { index: index! })).status, 303)
  assert.include((await viewer.get(path)).text, "No index was created for it.")
})

it("a source's screen shows what it sends, with changed fields first, and the others on a screen of their own", async () => {
  await database.run("UPDATE cabinet.clock SET shift = interval '8 days'")
  const members = Array.from({ length: 20 }, (_, n) => `"w${n}x":[{"<b>":${n}}]`)
  const headers = { "content-type": "application/json" }
  await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: `{"total":7,${members.join()}}` })
  const { text } = await viewer.get("/console/sources/1")
  const [, section = ""] = text.split('aria-labelledby="fields"')
  const fields = (html: string) =>
    [...html.matchAll(/<th scope="row"><bdi class="mono">([^<]*)/g)].map(([, name]) => name)
  assert.deepStrictEqual(fields(section).slice(0, 4), ["total", "note", "city", "w0x"])
  assert.lengthOf(fields(section), 20)
  const badges = [...section.matchAll(/<span class="badge [a-z]+">([^<]*)/g)].map(([, badge]) => badge)
  assert.deepStrictEqual(badges.slice(0, 4), ["new kind", "not seen for 7 days", "not seen for 7 days", "new"])
  const [, count] = /href="\/data\/console\/sources\/1\/fields">All fields: (\d+)</.exec(section) ?? []
  const all = (await viewer.get("/console/sources/1/fields")).text
  assert.lengthOf(fields(all), Number(count))
  assert.isAtLeast(Number(count), 63)
  assert.deepStrictEqual(fields(all).slice(0, 3), ["total", "note", "city"])
  assert.match(all, /Learned from \d+ events\./)
  assert.match(all, /integer, string, null<span class="segments" .*?title="string · \d+ %".*?<td>\d+ %<\/td>/)
  assert.include(all, "w0x[].&quot;&lt;b&gt;&quot;")
})
