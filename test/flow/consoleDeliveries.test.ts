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
})
afterAll(() => cabinet.close())

const LIST = "/console/deliveries"

/** The deliveries of the screen, in its order. */
const shown = async (query = ""): Promise<ReadonlyArray<number>> => {
  const { status, text } = await viewer.get(LIST + query)
  assert.strictEqual(status, 200)
  return [...text.matchAll(/<th scope="row"><a href="[^"]*\/deliveries\/(\d+)["?]/g)].map(([, id]) => Number(id))
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
    "?type=ping",
    "?outcome=delivered&type=event.received",
    "?outcome=delivered",
    "?outcome=refused&address_id=1",
    `?before=${(await viewer.manage("GET", "deliveries?limit=2")).json.next_cursor}`,
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

it("all that the filter finds are sent again once they were counted, by the console as by the API", async () => {
  for (const id of await listed()) await editor.post(`${LIST}/${id}/cancel`, {})
  const count = (await listed("?state=cancelled")).length
  assert.strictEqual(count, 4)
  assert.include((await viewer.get(`${LIST}?state=cancelled`)).text, "cancelled")
  assert.notInclude((await viewer.get(`${LIST}?state=cancelled`)).text, "resend-all")
  assert.notInclude((await editor.get(LIST)).text, "resend-all")
  assert.include((await editor.get(`${LIST}?state=cancelled`)).text, "resend-all")
  const dry = await editor.manage("POST", "deliveries/resend", { state: "cancelled", address_id: 1, dry_run: true })
  assert.deepStrictEqual(dry.json, { count: 2 })
  assert.strictEqual((await viewer.manage("POST", "deliveries/resend", { state: "cancelled" })).status, 403)
  for (const body of [{}, { retrying: false }, { all: true, state: "cancelled" }]) {
    const unclear = await editor.manage("POST", "deliveries/resend", body)
    assert.deepInclude(unclear.json.error, { code: "bad_body", param: "/all" })
  }
  assert.strictEqual(
    (await editor.manage("POST", "deliveries/resend", { from: "yesterday" })).json.error.code,
    "bad_range",
  )
  const asked = await editor.post(`${LIST}/resend-all`, { state: "cancelled" })
  assert.strictEqual(asked.status, 200)
  assert.include(asked.text, "4 deliveries")
  assert.lengthOf(await listed("?state=cancelled"), count)
  const sent = await editor.post(`${LIST}/resend-all`, { state: "cancelled", confirm: "yes" })
  assert.strictEqual(sent.headers.get("location"), `/data${LIST}?state=cancelled`)
  assert.deepStrictEqual(await listed("?state=cancelled"), [])
  assert.lengthOf(await listed("?state=due"), count)
  assert.strictEqual((await editor.post(`${LIST}/resend-all`, {})).status, 400)
})

it("the listed deliveries are exported with the filter of the list, for those who may see them", async () => {
  const { status, text } = await viewer.get(`${LIST}/export.ndjson?address_id=1`)
  assert.strictEqual(status, 200, text)
  const ids = text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly delivery: number }).delivery)
  assert.deepStrictEqual(ids, await listed("?address_id=1"))
  assert.match((await viewer.get(`${LIST}/export.csv?address_id=1`)).text, /^delivery,type,event,address,url,state,/)
  const reader = visitor(cabinet.base, await cabinet.as("reader"))
  assert.strictEqual((await reader.get(`${LIST}/export.csv`)).status, 403)
})

it("a delivery that failed is compared with the last one of its address that worked", async () => {
  // Its own intake address receives whatever it is sent.
  const { id } = await cabinet.cabinet.addresses.create({ url: cabinet.source.intakeUrl, sources: [] })
  const ping = async () => {
    await editor.manage("POST", `addresses/${id}/ping`, {})
    return (await listed(`?address_id=${id}`))[0]!
  }
  const compared = async (delivery: number) => (await viewer.get(`${LIST}/${delivery}?tab=compare`)).text
  const worked = await ping()
  assert.match(
    (await viewer.get(`${LIST}/${worked}`)).text,
    /<dt>Of which<\/dt><dd>.*waiting for the response \d+ ms · body/,
  )
  assert.notInclude(await compared(worked), "tab=compare")
  await editor.manage("PATCH", `addresses/${id}`, { url: `${cabinet.base}/nothing` })
  const failed = await compared(await ping())
  assert.include(failed, "The last that worked")
  assert.include(failed, `/console/deliveries/${worked}"`)
  assert.include(failed, "Both requests have the same fields")
})
