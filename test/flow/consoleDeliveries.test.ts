/** The list of deliveries on the console: filtered as the management API's, and sent again from there. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  for (const path of ["one", "other"]) {
    await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/${path}`, sources: "all" })
  }
  for (const n of [1, 2]) {
    await (
      await fetch(cabinet.source.intakeUrl, { method: "POST", body: new URLSearchParams({ n: String(n) }) })
    ).text()
  }
}, 120_000)
afterAll(() => cabinet.close())

const LIST = "/console/deliveries"

/** The deliveries of the screen, in its order. */
const shown = async (query = ""): Promise<ReadonlyArray<number>> => {
  const { status, text } = await viewer.get(LIST + query)
  assert.strictEqual(status, 200)
  return [...text.matchAll(/<th scope="row"><a href="[^"]*\/deliveries\/(\d+)"/g)].map(([, id]) => Number(id))
}

/** The API's deliveries for the same filters. */
const listed = async (query = ""): Promise<ReadonlyArray<number>> =>
  (await viewer.manage("GET", `deliveries${query}`)).json.data.map(({ id }: { readonly id: number }) => id)

it("the list of deliveries has those of the API for each filter, newest first", async () => {
  const all = await listed()
  assert.lengthOf(all, 4)
  assert.deepStrictEqual(await shown(), all)
  for (const query of [
    "?address_id=1",
    "?address_id=2&event_id=1",
    "?source_id=1",
    "?source_id=2",
    "?state=due",
    "?state=delivered",
    "?retrying=true",
    "?from=2100-01-01T00:00:00Z",
    "?to=2100-01-01T00:00:00Z",
    `?before=${all[1]}`,
  ]) {
    assert.deepStrictEqual(await shown(query), await listed(query), query)
  }
  assert.deepStrictEqual(await shown("?state=retrying"), [])
  assert.deepStrictEqual(await shown("?from=2100-01-01T00:00"), [])
  assert.include((await viewer.get(`${LIST}?state=delivered`)).text, "No delivery matches")
})

it("marked deliveries are sent again from the list, which keeps its filter, by those who may", async () => {
  const [newest = 0] = await listed()
  assert.notInclude((await viewer.get(LIST)).text, "deliveries/resend")
  assert.strictEqual((await viewer.post(`${LIST}/resend`, { delivery: String(newest) })).status, 403)
  await editor.post(`${LIST}/${newest}/cancel`, {})
  const [, undo] = /<form[^>]*action="[^"]*(\/console\/deliveries\/\d+\/resend)"/.exec(
    (await editor.get(`${LIST}/${newest}`)).text.split('class="box good above"')[1] ?? "",
  )!
  assert.strictEqual(undo, `${LIST}/${newest}/resend`)
  assert.deepStrictEqual(await shown("?state=cancelled"), [newest])
  const at = `${LIST}?state=cancelled`
  const sent = await editor.post(`${LIST}/resend`, { delivery: String(newest), form_at: at })
  assert.strictEqual(sent.headers.get("location"), `/data${at}`)
  const after = (await editor.get(at)).text
  assert.include(after, "The selected deliveries are queued to be sent again.")
  assert.deepStrictEqual(await shown("?state=cancelled"), [])
  const none = await editor.post(`${LIST}/resend`, { form_at: LIST })
  assert.strictEqual(none.status, 400)
  assert.include(none.text, "select at least one delivery")
})
