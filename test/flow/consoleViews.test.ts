/** Saved selections: listed beside the tables with a link to their rows, personal or for everybody. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let ada: Visitor
let bob: Visitor
let owner: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 20)
  ada = visitor(cabinet.base, await cabinet.as("viewer"))
  bob = visitor(cabinet.base, await cabinet.as("viewer"))
  owner = visitor(cabinet.base, await cabinet.as("owner"))
})
afterAll(() => cabinet.close())

const TABLE = "/console/tables/sources/orders"
const QUERY = "q=%D0%98%D0%B2%D0%B0%D0%BD+%3Cb%3E&sort=total&dir=desc&hide=note"

/** The form of a table's screen, filled in as a browser does. */
const formOf = (screen: string, title: string, shared: boolean): Readonly<Record<string, string>> => {
  const [, form] = /action="\/data\/console\/views">(.*?)<\/form>/s.exec(screen)!
  const hidden = [...form!.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!.replaceAll("&amp;", "&")]))
  return { ...fields, title, ...(shared ? { shared: "on" } : {}) }
}

it("a selection is saved with a title, listed beside the tables, and links to the same rows", async () => {
  const before = (await ada.get(`${TABLE}?${QUERY}`)).text
  const saved = await ada.post("/console/views", formOf(before, '<i>"Big" Ивана', true))
  assert.strictEqual(saved.status, 303, saved.text)
  const location = saved.headers.get("location")!.slice("/data".length)
  assert.strictEqual(location, `${TABLE}?${QUERY}`)
  const rowsOf = (text: string) => text.split("\n").filter((line) => line.startsWith("<tr>"))
  const rows = rowsOf((await bob.get(location)).text)
  assert.isAtLeast(rows.length, 3)
  assert.deepStrictEqual(rows, rowsOf(before))
  const list = (await bob.get("/console/tables")).text
  assert.include(
    list,
    `<a href="/data${TABLE}?${QUERY.replaceAll("&", "&amp;")}"><bdi>&lt;i&gt;&quot;Big&quot; Ивана</bdi></a>`,
  )
  assert.notInclude(list, "/remove")
  const { data } = (await bob.manage("GET", "views")).json
  assert.deepStrictEqual(
    data.map(({ title, query, shared }: any) => [title, query, shared]),
    [['<i>"Big" Ивана', QUERY, true]],
  )
  const led = await bob.get(`/console/views/${data[0].id}`)
  assert.strictEqual(led.headers.get("location"), `/data${location}`)
})

it("a personal view exists only for its creator and owners, and only they remove it", async () => {
  const made = await ada.manage("POST", "views", {
    title: "Mine",
    schema: "sources",
    name: "orders",
    query: "sort=total&cursor=left.out",
  })
  assert.strictEqual(made.status, 201, made.text)
  const { id, query, shared } = made.json
  assert.deepStrictEqual([query, shared], ["sort=total", false])
  assert.notInclude((await bob.get("/console/tables")).text, "Mine")
  assert.strictEqual((await bob.get(`/console/views/${id}`)).status, 404)
  assert.strictEqual((await bob.post(`/console/views/${id}/remove`, {})).status, 404)
  assert.include((await owner.get("/console/tables")).text, "Mine")
  assert.include((await ada.get("/console/tables?find=mine")).text, `action="/data/console/views/${id}/remove"`)
  const sharedId = (await bob.manage("GET", "views")).json.data[0].id
  assert.strictEqual((await bob.manage("DELETE", `views/${sharedId}`)).status, 403)
  assert.strictEqual((await owner.post(`/console/views/${sharedId}/remove`, {})).status, 303)
  assert.strictEqual((await ada.manage("DELETE", `views/${id}`)).status, 204)
  assert.deepStrictEqual((await owner.manage("GET", "views")).json.data, [])
})

it("a selection is not saved when it is invalid or has no title", async () => {
  const save = async (changes: object) => {
    const body = { title: "x", schema: "sources", name: "orders", query: "", ...changes }
    const answer = await ada.manage("POST", "views", body)
    return [answer.status, answer.json.error.code, answer.json.error.param]
  }
  for (const query of [
    "sort=nothing",
    "fc=total&fo=eq&fv=x",
    "fj=or",
    "unknown=1",
    "q=%00",
    `q=${"x".repeat(8_191)}`,
  ]) {
    assert.deepStrictEqual((await save({ query }))[0], 400, query)
  }
  assert.deepStrictEqual(await save({ query: "sort=nothing" }), [400, "bad_query", "/query"])
  assert.deepStrictEqual(await save({ name: "nothing" }), [400, "bad_query", "/query"])
  assert.deepStrictEqual(await save({ schema: "cabinet", name: "session" }), [400, "bad_query", "/query"])
  assert.deepStrictEqual(await save({ title: "  " }), [400, "bad_title", "/title"])
  const form = { title: "a\0b", schema: "sources", name: "ord\0ers", query: "" }
  assert.strictEqual((await ada.post("/console/views", form)).status, 400)
  assert.strictEqual((await ada.post("/console/views", { ...form, title: "a" })).status, 400)
  const reader = visitor(cabinet.base, await cabinet.as("reader"))
  assert.strictEqual((await reader.manage("GET", "views")).status, 403)
  assert.strictEqual((await reader.get("/console/tables")).status, 200)
  assert.notInclude((await reader.get(TABLE)).text, "save-view")
})

it("the number of a person's saved views is limited", async () => {
  const eve = visitor(cabinet.base, await cabinet.as("viewer"))
  const body = { title: "x", schema: "sources", name: "orders", query: "" }
  for (let n = 0; n < 200; n++) assert.strictEqual((await eve.manage("POST", "views", body)).status, 201)
  const refused = await eve.manage("POST", "views", body)
  assert.deepStrictEqual([refused.status, refused.json.error.code], [409, "too_many_views"])
  assert.strictEqual((await ada.manage("POST", "views", body)).status, 201)
})

it("an editor sees the SQL of a view of the latest rows, then creates it; a viewer is not offered it", async () => {
  const editor = visitor(cabinet.base, await cabinet.as("editor"))
  const path = `${TABLE}/latest`
  assert.include((await editor.get(TABLE)).text, `href="/data${path}"`)
  assert.notInclude((await ada.get(TABLE)).text, `href="/data${path}"`)
  assert.strictEqual((await ada.get(path)).status, 403)
  const empty = (await editor.get(path)).text
  assert.include(empty, 'value="public.orders_latest"')
  assert.notInclude(empty, "CREATE VIEW")
  const none = await editor.get(`${path}?by=_event_id&view=public.orders_latest`)
  assert.strictEqual(none.status, 400)
  assert.include(none.text, "<code>bad_columns</code>")
  const shown = (await editor.get(`${path}?key=customer&by=_event_id&view=public.orders_latest`)).text
  assert.include(shown, "SELECT DISTINCT ON (&quot;customer&quot;) *")
  const form = { key: "customer", by: "_event_id", view: "public.orders_latest" }
  assert.strictEqual((await ada.post(path, form)).status, 403)
  const created = await editor.post(path, form)
  assert.strictEqual(created.headers.get("location"), "/data/console/tables/public/orders_latest")
  const rows = (await ada.get("/console/tables/public/orders_latest")).text.match(/^<tr>/gm)
  assert.strictEqual(rows?.length, 2)
  const again = await editor.post(path, form)
  assert.strictEqual(again.status, 409)
  assert.include(again.text, "<code>view_failed</code>")
  assert.strictEqual((await editor.post(path, { ...form, replace: "on" })).status, 303)
  const { data } = (await owner.manage("GET", "audit")).json
  const acts = data.filter(({ action }: any) => action === "latest_view.create")
  assert.deepStrictEqual(acts.at(-1).changes, { keys: ["customer"], by: "_event_id", view: form.view, replace: false })
})
