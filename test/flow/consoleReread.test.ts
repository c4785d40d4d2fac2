/** Rereading one event in another charset, in the console and over the management API. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
let source: { readonly id: number; readonly intakeUrl: string }
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  source = await cabinet.cabinet.sources.create({ name: "Forms", encoding: "latin-1" })
})
afterAll(() => cabinet.close())

const sent = async (body: string, type = "application/x-www-form-urlencoded"): Promise<number> => {
  const response = await fetch(source.intakeUrl, { method: "POST", headers: { "content-type": type }, body })
  return ((await response.json()) as { readonly id: number }).id
}
const nameOf = async (id: number) => (await cabinet.cabinet.events.inspect(id))!.event.payload["name"]

it("the event's screen reads its original again for an editor, and shows what decided the charset", async () => {
  const id = await sent("name=%C0%ED%ED%E0")
  const path = `/console/events/${id}`
  assert.include((await editor.get(path)).text, `action="/data${path}/reread"`)
  assert.notInclude((await viewer.get(path)).text, "/reread")
  assert.strictEqual((await viewer.post(`${path}/reread`, { encoding: "windows-1251" })).status, 403)
  assert.strictEqual(await nameOf(id), "Àííà")
  assert.strictEqual((await editor.post(`${path}/reread`, { encoding: "windows-1251" })).status, 303)
  assert.strictEqual(await nameOf(id), "Анна")
  assert.include((await editor.get(path)).text, "windows-1251 (reread)")
  const unknown = await editor.post(`${path}/reread`, { encoding: "klingon" })
  assert.deepStrictEqual([unknown.status, unknown.text.includes("<code>bad_encoding</code>")], [400, true])
})

it("the screen of an event in JSON offers no rereading, and its form is refused with a message", async () => {
  const id = await sent('{"name":"Анна"}', "application/json")
  assert.notInclude((await editor.get(`/console/events/${id}`)).text, "/reread")
  const refused = await editor.post(`/console/events/${id}/reread`, { encoding: "koi8-r" })
  assert.strictEqual(refused.status, 409)
  assert.include(refused.text, "The body is JSON, which shows its own charset.")
})

it("the management API counts first, changes a page, and refuses what cannot be read again", async () => {
  const id = await sent("name=%CF%B8%F2%F0")
  const body = { encoding: "cp1251", dry_run: true }
  const tried = (await editor.manage("POST", `sources/${source.id}/reread`, body)).json
  const changed = tried.verdicts.filter(({ outcome }: { readonly outcome: string }) => outcome === "changed")
  assert.deepStrictEqual(changed, [{ id, outcome: "changed", reason: null, replaced: 0 }])
  assert.deepStrictEqual(tried.example, {
    event: id,
    values: [{ field: "name", field_before: null, before: "Ï¸òð", after: "Пётр" }],
    more: 0,
  })
  assert.strictEqual(await nameOf(id), "Ï¸òð")
  const done = (await editor.manage("POST", `sources/${source.id}/reread`, { encoding: "cp1251" })).json
  assert.deepStrictEqual(done, tried)
  assert.strictEqual(await nameOf(id), "Пётр")
  const json = await sent('{"name":"Ada"}', "application/json")
  const refused = await editor.manage("POST", "events/reread", { events: [json], encoding: "koi8-r" })
  assert.deepInclude(refused.json.error, { code: "not_reread", param: "/events" })
})
