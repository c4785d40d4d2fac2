/** The console's overview, state of the database, counts and values of a column, without a browser. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
})
afterAll(() => cabinet.close())

const send = async (items: string) => {
  const headers = { "content-type": "application/json" }
  const sent = await fetch(cabinet.source.intakeUrl, { method: "POST", headers, body: items })
  assert.strictEqual(sent.status, 200, await sent.text())
}

it("the overview of an empty cabinet leads to the first event, and then shows it with its source", async () => {
  const empty = (await viewer.get("/console/")).text
  assert.include(empty, "Send the first event")
  assert.include(empty, `href="/data/console/sources/${cabinet.source.id}"`)
  await send('{"customer":"<script>alert(1)</script>","total":12345678901234567890.10}')
  const full = (await viewer.get("/console/")).text
  assert.notInclude(full, "Send the first event")
  assert.include(full, "12345678901234567890.10")
  assert.notInclude(full, "<script>alert")
  assert.match(full, /<a href="\/data\/console\/events\/1">#1<\/a>/)
  const sources = (await viewer.get("/console/sources")).text
  assert.match(sources, /events\/1"><time.*aria-label="(?:0 · ){5}(?:0 · 1|1 · 0)"/)
})

it("the overview is for viewers, and redirects a reader's token to the tables", async () => {
  const reader = visitor(cabinet.base, await cabinet.as("reader"))
  const led = await reader.get("/console/")
  assert.strictEqual(led.headers.get("location"), "/data/console/tables")
  assert.strictEqual((await reader.get("/console/doctor")).status, 403)
  const tables = (await reader.get("/console/tables")).text
  assert.notInclude(tables, "/console/events")
})

it("the state of the database shows the findings of the management API", async () => {
  const screen = (await viewer.get("/console/doctor")).text
  const { findings } = (await viewer.manage("GET", "diagnostics")).json
  assert.isAbove(findings.length, 5)
  for (const { check } of findings) assert.include(screen, `<th scope="row" class="mono nowrap">${check}</th>`)
})

it("the values of a column are counted in the selection, and each links to its own rows", async () => {
  const items = Array.from(
    { length: 30 },
    (_, n) => `{"customer":${JSON.stringify(["Ada", "Иван & Co", ""][n % 3])},"total":${n}}`,
  )
  await send(`[${items.join(",")}]`)
  const path = "/console/tables/sources/orders"
  const screen = (await viewer.get(`${path}/values?column=customer&fc=total&fo=lt&fv=15`)).text
  assert.include(screen, "of 15 rows")
  assert.match(screen, /<span>Иван &amp; Co<\/span><b>5<\/b>/)
  assert.include(screen, '<i class="soft">empty text</i><b>5</b>')
  const link = /href="[^"]*(\/console\/tables\/sources\/orders\?[^"]*)"><span>Иван/
    .exec(screen)![1]!
    .replaceAll("&amp;", "&")
  assert.strictEqual(decodeURIComponent(link.split("?")[1]!), "fc=total&fo=lt&fv=15&fc=customer&fo=eq&fv=Иван+&+Co")
  const narrowed = (await viewer.get(link)).text
  assert.strictEqual(narrowed.split("\n").filter((line) => line.startsWith("<tr>")).length, 5)
  assert.match((await viewer.get(path)).text, / · \d+ rows<\/p>/)
  assert.match(narrowed, / · (?:about \d+ rows|table)<\/p>/)
  const unknown = await viewer.get(`${path}/values?column=nothing`)
  assert.strictEqual(unknown.status, 400)
  assert.include(unknown.text, "<code>unknown_column</code>")
  assert.strictEqual((await viewer.get("/console/tables/cabinet/event/values?column=id")).status, 404)
})

it("the rows of a selection are counted, as a screen and as the fragment that the script requests", async () => {
  const path = `${cabinet.base}/console/tables/sources/orders/count?fc=customer&fo=eq&fv=Ada&sort=total&limit=7`
  const headers = await cabinet.as("viewer")
  assert.include(await (await fetch(path, { headers })).text(), "<h1>10 rows in all</h1>")
  assert.strictEqual(await (await fetch(path, { headers: { ...headers, "x-fragment": "1" } })).text(), "10 rows in all")
  const refused = await fetch(`${cabinet.base}/console/tables/sources/orders/count?fc=total&fo=eq&fv=x`, { headers })
  assert.strictEqual(refused.status, 400)
})

it("a jump leads to the first row with a value in the screen's order, or to the next one, and paging continues there", async () => {
  const path = "/console/tables/sources/orders"
  const jump = async (query: string) => {
    const led = await viewer.get(`${path}/jump?${query}`)
    assert.strictEqual(led.status, 303, led.text)
    const { text, status } = await viewer.get(led.headers.get("location")!.slice("/data".length))
    assert.strictEqual(status, 200, text)
    return [...text.matchAll(/^<tr>.*?<td class="n">(\d+)<\/td>/gm)].map(([, id]) => Number(id))
  }
  const below = (from: number) => Array.from({ length: from }, (_, n) => from - n)
  assert.deepStrictEqual(await jump("value=12"), below(12))
  assert.deepStrictEqual(await jump("value=99"), below(31))
  assert.deepStrictEqual(await jump("value=0"), [])
  assert.deepStrictEqual((await jump("sort=total&value=3"))[0], 5)
  assert.deepStrictEqual((await jump("sort=total&value=3.5"))[0], 6)
  assert.deepStrictEqual((await jump("sort=total&dir=desc&value=3.5"))[0], 5)
  assert.deepStrictEqual((await jump("sort=total&fc=customer&fo=eq&fv=Ada&value=1"))[0], 5)
  assert.deepStrictEqual((await jump("sort=customer&value=B")).length, 10)
  const refused = await viewer.get(`${path}/jump?sort=total&value=x`)
  assert.strictEqual(refused.status, 400)
  assert.include(refused.text, "<code>bad_fv</code>")
  assert.strictEqual((await viewer.get("/console/tables/cabinet/event/jump?value=1")).status, 404)
})

it("single-letter shortcuts that are switched off are off on every screen", async () => {
  assert.include((await viewer.get("/console/me")).text, 'data-letters="on"')
  const off = await viewer.post("/console/me/keys", {})
  assert.match(off.headers.get("set-cookie")!, /^cabinet-keys=off; Path=\/data\/console; /)
  assert.include((await viewer.get("/console/tables")).text, 'data-letters="off"')
  viewer.cookie = null
})

it("the charts of the overview have tables with the numbers of the management API", async () => {
  await send('[{"n":1},{"n":2},{"n":1}]')
  const activity = async () => (await viewer.manage("GET", "activity?step=hour&source_id=1")).json.data
  let steps, screen, overview
  do {
    steps = await activity()
    screen = (await viewer.get("/console/")).text
    overview = (await viewer.manage("GET", "overview")).json
    // Again if a new hour began in between.
  } while ((await activity()).at(-1).at !== steps.at(-1).at)
  const { hours, sources } = overview
  assert.deepStrictEqual(steps, hours)
  const all: ReadonlyArray<number> = hours.map(({ events }: { readonly events: number }) => events)
  assert.deepStrictEqual([all.length, all.slice(-2).reduce((sum, events) => sum + events)], [48, 34])
  assert.strictEqual(hours.at(-1).repeats + hours.at(-2).repeats, 1)
  const [chart, table] = screen.slice(screen.indexOf('id="hours"')).split("<details>")
  const drawn = [...chart!.matchAll(/<title>[^<]* · (\d+)<\/title>/g)].map(([, events]) => Number(events))
  assert.deepStrictEqual(drawn, all)
  const rows = [...table!.split("</details>")[0]!.matchAll(/<\/th><td class="n">(\d+)<\/td>/g)]
  assert.deepStrictEqual(rows.map(([, events]) => Number(events)).toReversed(), all)
  assert.deepStrictEqual([sources[0].days.at(-2) + sources[0].days.at(-1), sources[0].last_event_id], [34, 34])
  assert.notMatch(screen, / style=|<script>/)
})

it("invalid periods of activity are refused, and so is an unknown source", async () => {
  const refused = async (query: string) => {
    const { status, json } = await viewer.manage("GET", `activity?${query}`)
    return [status, json.error.code, json.error.param]
  }
  assert.deepStrictEqual(await refused("from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z"), [400, "bad_period", "to"])
  assert.deepStrictEqual(await refused("from=2020-01-01T00:00:00Z"), [400, "bad_period", "from"])
  assert.deepStrictEqual(await refused("from=yesterday"), [400, "bad_param", "from"])
  assert.deepStrictEqual(await refused("step=minute"), [400, "bad_param", "step"])
  assert.deepStrictEqual(await refused("source_id=99"), [404, "no_such_source", "source_id"])
})

it("a source says what it lacks for the well-known sender of its latest request, until it has it", async () => {
  const source = await cabinet.cabinet.sources.create({ name: "Hooks" })
  const headers = { "content-type": "application/json", "user-agent": "GitHub-Hookshot/044aadd" }
  await fetch(source.intakeUrl, { method: "POST", headers, body: "{}" })
  const screen = async () => (await viewer.get(`/console/sources/${source.id}`)).text
  const lacks = await screen()
  assert.match(lacks, /Its headers have [^<]* <span class="mono">X-GitHub-Event</)
  assert.include(lacks, "from GitHub. This source does not verify its signatures.")
  await cabinet.cabinet.sources.change(source.id, { from: "github", verify: { secret: "hush" } })
  assert.notInclude(await screen(), "GitHub")
})

it("the state of the database shows each follower of the feed with its lag, escaped", async () => {
  const name = "<b>ERP</b>"
  const { key } = await cabinet.cabinet.keys.create({ name })
  const headers = { "x-api-key": key }
  const page = await fetch(`${cabinet.base}/api/v1/events?limit=1`, { headers })
  const { next_cursor } = (await page.json()) as { next_cursor: string }
  const query = `follower=erp&cursor=${next_cursor}`
  await fetch(`${cabinet.base}/api/v1/events/ack?${query}`, { method: "POST", headers })
  await send('{"customer":"behind"}')
  const screen = (await viewer.get("/console/doctor")).text
  assert.match(screen, /<bdi>activity<\/bdi> <span class="soft">counts of events/)
  assert.match(screen, /<bdi>erp<\/bdi> <span class="soft">client<\/span>.*&lt;b&gt;ERP.*#1<\/a>.*badge[^>]*>behind</)
  assert.notInclude(screen, name)
})
