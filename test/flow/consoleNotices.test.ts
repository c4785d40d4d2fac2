/** Notices in the console, without a browser: switching them on and off, and the latest ones. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let viewer: Visitor
let editor: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  editor = visitor(cabinet.base, await cabinet.as("editor"))
})
afterAll(() => cabinet.close())

const PATH = "/console/notices"

it("an editor switches notices on and off, and a viewer sees their state", async () => {
  assert.include((await viewer.get("/console/")).text, 'href="/data/console/notices">Notices</a>')
  const before = (await viewer.get(PATH)).text
  assert.include(before, "They have not been switched on yet.")
  assert.notInclude(before, "Switch notices on")
  assert.strictEqual((await viewer.post(`${PATH}/on`, {})).status, 403)
  assert.include((await editor.get(PATH)).text, 'action="/data/console/notices/on"')
  const switched = await editor.post(`${PATH}/on`, {})
  assert.deepStrictEqual([switched.status, switched.headers.get("location")], [303, "/data/console/notices"])
  const on = (await viewer.get(PATH)).text
  assert.include(on, "No address is subscribed to them by name")
  assert.include(on, "No notices yet.")
  const { source, addresses } = (await viewer.manage("GET", "notices")).json
  assert.deepStrictEqual(
    [source.name, source.table, addresses],
    ["Notices", { schema: "sources", name: "notices" }, []],
  )
  assert.include(on, `href="/data/console/sources/${source.id}">Notices</a>`)
  await editor.post(`${PATH}/off`, {})
  assert.include((await editor.get(PATH)).text, "Switch notices on")
  assert.isFalse((await viewer.manage("GET", "notices")).json.on)
  await editor.post(`${PATH}/on`, {})
})

it("the screen shows notices and their receivers, and none of their text is markup", async () => {
  const { source } = (await viewer.manage("GET", "notices")).json
  const { id } = (await editor.manage("POST", "addresses", { url: "https://1.1.1.1/in", sources: [source.id] })).json
  await database.run(`
    WITH told AS (
      INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
      VALUES (1, 1, nextval('cabinet.event_id'), ${source.id}, cabinet.now(), 'webhook', false, false,
        '{"kind":"source.quiet","subject":"source 1","message":"Source 1 (<b>Orders</b>) has received nothing."}') RETURNING id
    ) SELECT id FROM told`)
  const screen = (await viewer.get(PATH)).text
  assert.include(screen, "A source is silent")
  assert.include(screen, "Source 1 (&lt;b&gt;Orders&lt;/b&gt;) has received nothing.")
  assert.include(screen, `href="/data/console/addresses/${id}">#${id}</a>`)
  const russian = visitor(cabinet.base, { ...(await cabinet.as("viewer")), "accept-language": "ru" })
  assert.include((await russian.get(PATH)).text, "Источник молчит")
})

it("the source of notices shows no intake address, because it accepts nothing", async () => {
  const { source } = (await viewer.manage("GET", "notices")).json
  const own = `/console/sources/${source.id}`
  for (const screen of [(await editor.get(own)).text, (await editor.post(`${own}/reveal`, {})).text]) {
    assert.include(screen, "Only the cabinet itself writes to this source: it has no intake address.")
    assert.notInclude(screen, "/webhook/")
    assert.notInclude(screen, "/verify")
  }
  assert.include((await editor.get(`/console/sources/${cabinet.source.id}`)).text, "/webhook/")
})
