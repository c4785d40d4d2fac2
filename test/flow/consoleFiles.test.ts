/** Files and polls in the console, without a browser: files are checked first, and imported whole or not at all. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { SAME_ORIGIN, visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let [editor, viewer]: ReadonlyArray<Visitor> = []
let editorHeaders: Readonly<Record<string, string>>
let list: Server
let listUrl: string
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editorHeaders = await cabinet.as("editor")
  editor = visitor(cabinet.base, editorHeaders)
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  list = createServer((_, response) => response.end('[{"id":1,"name":"Ada"},{"id":2,"name":"<b>Grace</b>"}]'))
  await new Promise<void>((resolve) => list.listen(0, "127.0.0.1", resolve))
  listUrl = `http://127.0.0.1:${(list.address() as AddressInfo).port}/items?token=secret`
})
afterAll(async () => {
  list.close()
  await cabinet.close()
})

const send = async (name: string, text: string, more: Readonly<Record<string, string>>, headers = editorHeaders) => {
  const form = new FormData()
  for (const [field, value] of Object.entries({ source_id: String(cabinet.source.id), ...more })) form.set(field, value)
  form.set("file", new Blob([text]), name)
  const init = { method: "POST", body: form, headers: { ...SAME_ORIGIN, ...headers } }
  const answer = await fetch(`${cabinet.base}/console/files`, init)
  return { status: answer.status, text: await answer.text() }
}

const rows = async () =>
  (
    (await (await fetch(`${cabinet.base}/manage/v1/events?limit=1000`, { headers: editorHeaders })).json()) as {
      data: ReadonlyArray<unknown>
    }
  ).data.length

it("a file is checked without a trace, with its rows to the last digit, and then imported", async () => {
  const csv = `name,total\nAda <script>,12345678901234567890.10\n"Иван",2\n`
  const tried = await send("orders <i>.csv", csv, { dry_run: "true" })
  assert.strictEqual(tried.status, 200, tried.text)
  assert.include(tried.text, "2 rows would become events; 0 rows cannot be read.")
  assert.include(tried.text, "12345678901234567890.10")
  assert.notInclude(tried.text, "<script>,")
  assert.notInclude(tried.text, "<i>.csv")
  assert.strictEqual(await rows(), 0)
  const imported = await send("orders.csv", csv, { dry_run: "false" })
  assert.include(imported.text, "2 rows have become events.")
  assert.strictEqual(await rows(), 2)
  const again = await send("orders.csv", csv, { dry_run: "false" })
  assert.strictEqual(again.status, 409)
  assert.include(again.text, "<code>same_file</code>")
  assert.include((await send("orders.csv", csv, { again: "true" })).text, "2 rows have become events.")
  assert.match((await viewer!.get("/console/files")).text, /orders\.csv<\/a><small>file/)
})

it("a file is checked in the chosen notation", async () => {
  const csv = 'total,day,code\n"1.234,50",02.03.2026,007\n2,03.03.2026,5\n'
  assert.include((await viewer!.get("/console/files")).text, "Files")
  const tried = await send("ledger.csv", csv, { dry_run: "true", numbers: "comma", dates: "dmy" })
  assert.include(tried.text, "read as numbers")
  assert.include(tried.text, "read as days")
  assert.include(tried.text, "stays text")
  assert.include(tried.text, "<bdi>007</bdi>")
  assert.include(tried.text, "1234.50")
})

it("a file with an unreadable row is refused with its position, or imported without it", async () => {
  const ndjson = '{"a":1}\n{"a":\n{"a":3}\n'
  const refused = await send("broken.ndjson", ndjson, {})
  assert.include(refused.text, "Nothing was imported: 1 row cannot be read.")
  assert.include(refused.text, "line 2")
  const skipped = await send("broken.ndjson", ndjson, { skip_refused: "true" })
  assert.include(skipped.text, "2 rows have become events.")
})

it("a missing file, another origin, a viewer and an unknown source are refused", async () => {
  const viewing = await cabinet.as("viewer")
  assert.strictEqual((await send("a.csv", "a\n1\n", {}, viewing)).status, 403)
  assert.strictEqual(
    (await send("a.csv", "a\n1\n", {}, { ...editorHeaders, "sec-fetch-site": "cross-site" })).status,
    403,
  )
  assert.strictEqual((await send("a.csv", "a\n1\n", { source_id: "999" })).status, 404)
  assert.strictEqual((await editor!.post("/console/files", { source_id: "1" })).status, 400)
  assert.notInclude((await viewer!.get("/console/files")).text, "<form")
})

it("a poll is tried before and after it is added, and its response is shown as text", async () => {
  const form = { url: listUrl, source_id: String(cabinet.source.id), every_seconds: "2h", key_field: "id", pointer: "" }
  const sent = { ...form, header_name: "X-Token", header_value: "hidden-value" }
  const events = await rows()
  const tried = await editor!.post("/console/polls/try", sent)
  assert.strictEqual(tried.status, 200, tried.text)
  for (const shown of ["would take 2 of 2 items", "&lt;b&gt;Grace&lt;/b&gt;", 'value="2h"', 'value="id"', ">200<"]) {
    assert.include(tried.text, shown)
  }
  for (const hidden of ["hidden-value", "<b>Grace"]) assert.notInclude(tried.text, hidden)
  const added = await editor!.post("/console/polls", sent)
  const path = added.headers.get("location")!.slice("/data".length)
  const again = await editor!.post(`${path}/try`, { ...form, pointer: "/items" })
  assert.include(again.text, "/items")
  assert.include(again.text, '<details class="card" open>')
  assert.match(again.text, /The beginning of the response[^]*&lt;b&gt;Grace/)
  assert.include((await editor!.post(`${path}/try`, {})).text, "would take 2 of 2 items")
  assert.include((await editor!.get(path)).text, "It has not run yet.")
  assert.include(
    (await editor!.post(`${path}/try`, { ...form, url: "http://10.0.0.5/" })).text,
    "<code>headers_needed</code>",
  )
  for (const refused of ["/console/polls/try", `${path}/try`]) {
    assert.strictEqual((await viewer!.post(refused, sent)).status, 403)
    assert.strictEqual((await editor!.post(refused, sent, { "sec-fetch-site": "cross-site" })).status, 403)
  }
  assert.strictEqual(await rows(), events)
  await editor!.post(`${path}/remove`, {})
})

it("a poll's doubts are shown when it is tried, and with each run", async () => {
  const before = list.listeners("request")
  list.removeAllListeners("request")
  list.on("request", (_, response) => response.end("a;b|c\n1;2|3\n4;5|6\n"))
  const form = { url: listUrl, source_id: String(cabinet.source.id), every_seconds: "15m" }
  const words = "Several delimiters fit, and the first was used"
  assert.include((await editor!.post("/console/polls/try", form)).text, words)
  const added = await editor!.post("/console/polls", form)
  const path = added.headers.get("location")!.slice("/data".length)
  await editor!.post(`${path}/run`, {})
  assert.include((await viewer!.get(path)).text, `${words} (line 1)`)
  await editor!.post(`${path}/remove`, {})
  list.removeAllListeners("request")
  for (const listener of before) list.on("request", listener as () => void)
})

it("a poll is added, run, paused and removed, and its secrets are not shown to a viewer", async () => {
  const form = { url: listUrl, source_id: String(cabinet.source.id), every_seconds: "15m", key_field: "id" }
  const added = await editor!.post("/console/polls", { ...form, header_name: "X-Token", header_value: "hidden-value" })
  assert.strictEqual(added.status, 303, added.text)
  const path = added.headers.get("location")!.slice("/data".length)
  const card = (await editor!.get(path)).text
  assert.include(card, "X-Token")
  assert.notInclude(card, "hidden-value")
  assert.notInclude((await viewer!.get(path)).text, "token=secret")
  assert.notInclude((await viewer!.get("/console/polls")).text, "token=secret")
  assert.strictEqual((await editor!.post(`${path}/run`, {})).status, 303)
  assert.include((await viewer!.get(path)).text, "2 / 2")
  const settings = { ...form, every_seconds: "2h", pointer: "", format: "json" }
  const moved = await editor!.post(`${path}/change`, { ...settings, url: "http://127.0.0.2:9/", headers: "keep" })
  assert.strictEqual(moved.status, 400)
  assert.include(moved.text, "<code>headers_needed</code>")
  assert.notInclude(moved.text, "hidden-value")
  assert.strictEqual((await editor!.post(`${path}/change`, { ...settings, headers: "keep" })).status, 303)
  const changed = (await editor!.get(path)).text
  assert.include(changed, "2 hours")
  assert.include(changed, 'value="2h"')
  assert.include(changed, "X-Token")
  assert.notInclude((await viewer!.get(path)).text, "<form")
  await editor!.post(`${path}/change`, { ...settings, headers: "replace" })
  assert.notInclude((await editor!.get(path)).text, "X-Token")
  await editor!.post(`${path}/pause`, {})
  assert.include((await viewer!.get(path)).text, ">paused<")
  for (const act of ["run", "change", "pause", "resume", "remove"]) {
    assert.strictEqual((await viewer!.post(`${path}/${act}`, {})).status, 403, act)
  }
  assert.strictEqual((await editor!.post("/console/polls", { ...form, every_seconds: "often" })).status, 400)
  assert.include(
    (await editor!.post("/console/polls", { ...form, url: "http://10.0.0.5/" })).text,
    "<code>not_public</code>",
  )
  assert.strictEqual((await editor!.post(`${path}/remove`, {})).status, 303)
  assert.strictEqual((await viewer!.get(path)).status, 404)
})

it("an import is undone from its screen, which first counts and then reports what was done", async () => {
  await send("wrong.csv", "name,undone_column\nAda,1\nGrace,2\n", { dry_run: "false" })
  const listed = (await viewer!.get("/console/files")).text
  const id = /files\/(\d+)">wrong\.csv</.exec(listed)![1]!
  const path = `/console/files/${id}`
  assert.include((await editor!.get(path)).text, `<a class="button" href="/data${path}?undo=1">Undo this import</a>`)
  const before = (await editor!.get(`${path}?undo=1`)).text
  assert.include(before, "2 events move to the trash, and 2 rows leave the table.")
  assert.include(before, "Columns that only this import filled are dropped: undone_column.")
  assert.notInclude((await viewer!.get(`${path}?undo=1`)).text, "Undo this import")
  assert.strictEqual((await viewer!.post(`${path}/undo`, {})).status, 403)
  const done = await editor!.post(`${path}/undo`, {})
  assert.deepStrictEqual([done.status, done.headers.get("location")], [303, `/data${path}`])
  const after = (await viewer!.get(path)).text
  assert.include(after, "2 events were moved to the trash.")
  assert.include(after, "Dropped columns: undone_column.")
  assert.notInclude((await editor!.get(path)).text, "Undo this import")
  assert.match((await viewer!.get("/console/files")).text, /wrong\.csv<[^]*?>undone</)
  assert.strictEqual((await viewer!.get("/console/files/999999")).status, 404)
})

it("an import that runs elsewhere is cancelled from its screen, and a failure is marked as known", async () => {
  await send("running.csv", "name\nAda\n", { dry_run: "false" })
  const [, id] = /files\/(\d+)">running\.csv</.exec((await viewer!.get("/console/files")).text)!
  const path = `/console/files/${id}`
  assert.notInclude((await editor!.get(path)).text, `action="/data${path}/cancel"`)
  const running = "state = 'accepting', staged = 9, finished_at = NULL, lease_until = cabinet.now() + interval '1 hour'"
  await runSql(database.url, `UPDATE cabinet.import SET ${running} WHERE id = ${id}`)
  const shown = (await editor!.get(path)).text
  assert.include(shown, "Cancel this import")
  assert.notInclude(shown, "Undo this import")
  assert.notInclude((await viewer!.get(path)).text, "Cancel this import")
  assert.strictEqual((await viewer!.post(`${path}/cancel`, {})).status, 403)
  const done = await editor!.post(`${path}/cancel`, {})
  assert.deepStrictEqual([done.status, done.headers.get("location")], [303, `/data${path}`])
  const after = (await editor!.get(path)).text
  assert.include(after, "it was cancelled")
  assert.include(after, "Undo this import")
  assert.notInclude(after, "Cancel this import")
  assert.match((await viewer!.get("/console/files")).text, /running\.csv<[^]*?>cancelled</)
  await runSql(database.url, `UPDATE cabinet.import SET cancelled_at = NULL WHERE id = ${id}`)
  assert.include((await editor!.get(path)).text, "Mark the failure as known")
})

it("a page with several tables asks for one at its field, and the chosen table is imported", async () => {
  const page =
    "<table><tr><td>a</td></tr><tr><td>1</td></tr></table><table><tr><td>b</td></tr><tr><td>2</td></tr></table>"
  const asked = await send("shop.xls", page, { dry_run: "true" })
  assert.strictEqual(asked.status, 422)
  assert.match(asked.text, /<details open[^>]*>[^]*<input name="sheet"[^>]*aria-invalid="true"/)
  assert.include(asked.text, "This HTML page has 2 tables")
  const chosen = await send("shop.xls", page, { dry_run: "true", sheet: "2" })
  assert.include(chosen.text, "1 row would become events")
  assert.include(chosen.text, '<th scope="col">b</th>')
  assert.match(chosen.text, /<input name="sheet"[^>]*value="2"/)
})
