/** The ways between screens of the console: an act stays at its list, an event leads back to it, and no address leads nowhere. */
import { unescapeHtml } from "@data-cabinet/http-node/html/Html"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 5)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
})
afterAll(() => cabinet.close())

const LIST = "/console/events?text=Ada&source_id=1"

const act = async (name: string, at: string) => {
  const form = { event: `${cabinet.source.id}.2`, form_at: at }
  const { status, headers } = await editor.post(`/console/events/${name}`, form)
  assert.strictEqual(status, 303)
  return headers.get("location")
}

it("an act on marked events stays at the list with its filter, and so does its undo", async () => {
  assert.strictEqual(await act("trash", LIST), `/data${LIST}`)
  assert.strictEqual(await act("restore", LIST), `/data${LIST}`)
  assert.strictEqual(await act("trash", "/console/people?x=1"), "/data/console/events")
  assert.strictEqual(await act("restore", "//evil.example/console/events"), "/data/console/trash")
})

it("an event leads back to its list, filter and line", async () => {
  const { text: list } = await editor.get(LIST)
  const address = unescapeHtml(/<a href="\/data(\/console\/events\/2[^"]*)"/.exec(list)![1]!)
  const { text: event } = await editor.get(address)
  assert.include(unescapeHtml(event), `<a href="/data${LIST}#event-2">`)
  assert.include(list, '<tr id="event-2">')
  assert.include((await editor.get("/console/events/2")).text, '<a href="/data/console/events#event-2">')
})

it("an unknown address below /console/ is a page with the sections, and leads a visitor to the sign-in", async () => {
  for (const path of ["nothing", "nothing/at/all", "events/", "tables/sources/orders/rows/of/it", "%zz"]) {
    const { status, headers, text } = await editor.get(`/console/${path}`)
    assert.deepStrictEqual([path, status, headers.get("content-type")], [path, 404, "text/html; charset=utf-8"])
    assert.include(text, "There is nothing here")
    assert.include(text, '<a href="/data/console/events"')
    const { headers: stranger } = await visitor(cabinet.base).get(`/console/${path}`)
    assert.match(stranger.get("location") ?? "", /^\/data\/console\/sign-in/)
  }
})

it("two tabs that change different settings of a source do not overwrite each other", async () => {
  const shownIn = async () => {
    const { text } = await editor.get("/console/sources/1")
    return unescapeHtml(/name="form_shown" value="([^"]*)"/.exec(text)![1]!)
  }
  const [first, second] = [await shownIn(), await shownIn()]
  const save = (form: Readonly<Record<string, string>>) => editor.post("/console/sources/1/change", form)
  assert.strictEqual((await save({ form_shown: first, name: "Renamed", rate_limit: "" })).status, 303)
  assert.strictEqual((await save({ form_shown: second, name: "Orders", honeypot: "website" })).status, 303)
  const [source] = await cabinet.cabinet.sources.list()
  assert.deepStrictEqual([source!.name, source!.honeypot], ["Renamed", "website"])
  assert.strictEqual((await save({ form_shown: await shownIn(), name: "Renamed", honeypot: "website" })).status, 303)
})

it("a table with labels is exported with them on request, and with the names otherwise", async () => {
  await cabinet.cabinet.sql("CREATE TABLE public.plain (id bigint PRIMARY KEY, total numeric)")
  await editor.post("/console/tables/sources/orders/columns/total/label", { label: "Сумма, ₽" })
  const head = async (path: string) =>
    (await editor.get(`/console/tables/sources/orders/export.${path}`)).text.replace(/^\ufeff/, "").split(/\r?\n/)[0]
  assert.include(await head("csv?labels=1&col=_event_id&col=total"), '_event_id,"Сумма, ₽"')
  assert.strictEqual(await head("csv?col=_event_id&col=total"), "_event_id,total")
  assert.include(await head("ndjson?labels=1&col=total"), '"total":')
  assert.include((await editor.get("/console/tables/sources/orders")).text, "export.csv?labels=1")
  assert.notInclude((await editor.get("/console/tables/public/plain")).text, "labels=1")
})
