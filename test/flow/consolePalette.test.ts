/** The palette leads only to what a role may see. */
import type { Role } from "data-cabinet"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 2)
  await cabinet.cabinet.addresses.create({ url: "http://127.0.0.1:9/erp?token=secret", sources: "all" })
  await cabinet.cabinet.polls.create({ sourceId: 1, url: "http://127.0.0.1:9/prices?token=secret" })
})
afterAll(() => cabinet.close())

/** The links of the palette's screen, or of the list that the script requests. */
const links = async (role: Role, query: string, fragment = false) => {
  const headers = { ...(await cabinet.as(role)), ...(fragment ? { "x-fragment": "1" } : {}) }
  const { status, text } = await visitor(cabinet.base, headers).get(`/console/go?q=${encodeURIComponent(query)}`)
  assert.strictEqual(status, 200, text)
  const main = fragment ? text : text.slice(text.indexOf("<main"), text.indexOf("</main>"))
  return [...main.matchAll(/<a [^>]*href="\/data\/console\/([^"]*)"/g)].map(([, path]) => path)
}

it("a name, a number and a word lead to the table, the event and the act", async () => {
  assert.includeMembers(await links("owner", "orders"), ["tables/sources/orders", "sources/1", "events?text=orders"])
  assert.include(await links("viewer", "#2"), "events/2")
  assert.notInclude(await links("viewer", "3"), "events/3")
  assert.include(await links("owner", "invite"), "people")
  assert.deepStrictEqual(await links("owner", "orders", true), await links("owner", "orders"))
})

it("nobody is led to what their role may not see", async () => {
  assert.notInclude(await links("viewer", "invite"), "people")
  assert.notInclude(await links("viewer", "add"), "polls#add-poll")
  assert.include(await links("editor", "add"), "polls#add-poll")
  assert.deepStrictEqual(await links("reader", "orders"), ["tables/sources/orders"])
  assert.deepStrictEqual(await links("reader", "erp"), [])
  assert.deepStrictEqual(await links("uploader", "orders"), [])
})

it.each(["erp", "prices"])("%s is found without showing a viewer what its URL hides", async (name) => {
  const text = async (role: Role) =>
    (await visitor(cabinet.base, await cabinet.as(role)).get(`/console/go?q=${name}`)).text
  assert.include(await text("viewer"), `127.0.0.1:9/${name}`)
  assert.notInclude(await text("viewer"), "secret")
})
