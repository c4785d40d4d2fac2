/** Erasure on request in the console, without a browser: it first counts, and erases once the number is typed. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let [owner, editor]: ReadonlyArray<Visitor> = []
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  ;[owner, editor] = await Promise.all(
    (["owner", "editor"] as const).map(async (role) => visitor(cabinet.base, await cabinet.as(role))),
  )
  for (const fields of [MINE, MINE, { ...MINE, text: "again" }, { "E-mail": "bob@example.com", text: "hello" }]) {
    await (await fetch(cabinet.source.intakeUrl, { method: "POST", body: new URLSearchParams(fields) })).text()
  }
})
afterAll(() => cabinet.close())

const MINE = { "E-mail": "ann@example.com", text: "<b>hello</b>" }
const PATH = "/console/events/erase"
const WHERE = { source_id: "", fc: "E-mail", fo: "eq", fv: MINE["E-mail"] }

/** The figures of a screen by name. */
const figures = (screen: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...screen.matchAll(/<dt>([^<]*)<\/dt><dd>(\d+)<\/dd>/g)].map(([, name, value]) => [name!, Number(value)]),
  )

/** The fields of the form with the conditions and the counts. */
const carried = (screen: string): Readonly<Record<string, string>> => {
  const form = screen.split("<form").find((one) => one.includes('name="after"'))!
  const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  return Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]))
}

const COUNTS = {
  Events: 2,
  Repeats: 1,
  Rows: 2,
  "Events with an original request": 3,
  "Deliveries that wait": 0,
}

it("only an owner sees the erasure, and one without a condition is refused", async () => {
  assert.include((await owner!.get("/console/events")).text, `href="/data${PATH}"`)
  assert.notInclude((await editor!.get("/console/events")).text, PATH)
  assert.strictEqual((await editor!.get(PATH)).status, 403)
  assert.strictEqual((await editor!.post(PATH, { ...WHERE, act: "count" })).status, 403)
  const refused = await owner!.post(PATH, { act: "count", source_id: "", fc: "", fo: "eq", fv: "" })
  assert.strictEqual(refused.status, 400)
  assert.include(refused.text, "<code>bad_filter</code>")
})

it("a table's filters link to an erasure by the same fields, unless a search also narrows the rows", async () => {
  const table = "/console/tables/sources/orders"
  const filtered = `fc=e_mail&fo=eq&fv=ann%40example.com`
  assert.include(
    (await owner!.get(`${table}?${filtered}`)).text,
    `href="/data${table}/erase?${filtered.replaceAll("&", "&amp;")}"`,
  )
  assert.notInclude((await owner!.get(`${table}?${filtered}&q=x`)).text, `${table}/erase`)
  assert.notInclude((await owner!.get(table)).text, `${table}/erase`)
  assert.notInclude((await editor!.get(`${table}?${filtered}`)).text, `${table}/erase`)
  const led = await owner!.get(`${table}/erase?${filtered}`)
  const location = `${PATH}?source_id=${cabinet.source.id}&fc=E-mail&fo=eq&fv=ann%40example.com`
  assert.strictEqual(led.headers.get("location"), `/data${location}`)
  const form = (await owner!.get(location)).text
  assert.include(form, 'name="fv" value="ann@example.com"')
  assert.notInclude(form, 'name="confirm"')
})

it("a long count continues where it stopped, with its earlier counts", async () => {
  const rest = await owner!.post(PATH, { ...WHERE, act: "count", after: "2", events: "10", rows: "9" })
  assert.deepStrictEqual(figures(rest.text), {
    Events: 11,
    Repeats: 0,
    Rows: 10,
    "Events with an original request": 1,
    "Deliveries that wait": 0,
  })
})

it("an erasure only counts events until their number is typed", async () => {
  const counted = await owner!.post(PATH, { ...WHERE, act: "count" })
  assert.strictEqual(counted.status, 200)
  assert.deepStrictEqual(figures(counted.text), COUNTS)
  // The names of the fields that came are offered.
  assert.match(counted.text, /<datalist id="known-fields">.*<option value="E-mail">/)
  const form = carried(counted.text)
  for (const confirm of ["", "2"]) {
    const refused = await owner!.post(PATH, { ...form, confirm })
    assert.strictEqual(refused.status, 400)
    assert.deepStrictEqual(figures(refused.text), COUNTS)
  }
  assert.notInclude((await owner!.get("/console/events/1")).text, "was erased")
  const erased = await owner!.post(PATH, { ...form, confirm: " 3 " })
  assert.include(erased.text, "Erased permanently")
  assert.deepStrictEqual(figures(erased.text), COUNTS)
  for (const id of [1, 2, 3])
    assert.include((await owner!.get(`/console/events/${id}`)).text, "This event was erased", `${id}`)
  assert.notInclude((await owner!.get("/console/events/4")).text, "This event was erased")
  const again = await owner!.post(PATH, { ...WHERE, act: "count" })
  assert.include(again.text, "No event matches")
  assert.notInclude(again.text, 'name="confirm"')
  const { text } = await owner!.manage("GET", "audit")
  assert.include(text, '"event.erase"')
  assert.notInclude(text, "ann@example.com")
})
