/** The headers and queries that a source keeps by its settings, from the socket to the table and the event. */
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Trash } from "@data-cabinet/core/event/Trash"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Option } from "effect"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

const GITHUB = {
  "content-type": "application/json",
  "x-github-event": "issues",
  "X-GitHub-Delivery": "72d3162e-cc78-11e3",
  "x-hub-signature-256": "sha256=757107ea",
  "x-api-key": "hush-hush",
  "x-gitlab-token": "hush-hush",
  cookie: "session=hush-hush",
  authorization: "Bearer hush-hush",
  "proxy-authorization": "Basic hush-hush",
}

const post = async (url: string, body: string, headers: Record<string, string> = GITHUB) => {
  const response = await fetch(url, { method: "POST", body, headers })
  return { status: response.status, ...((await response.json()) as Record<string, any>) } as Record<string, any>
}

const keptOf = (id: number) =>
  cabinet.run(EventDetail.use((events) => events.find(id))).then((found) => Option.getOrThrow(found).original?.kept)

const change = (id: number, settings: Parameters<Sources["Service"]["change"]>[1]) =>
  cabinet.run(Sources.use((sources) => sources.change(id, settings)))

const SETTINGS = {
  keepHeaders: ["X-GitHub-*", "X-Hub-Signature-256"],
  headerFields: ["X-GitHub-Event"],
  keepQuery: true,
}

it("a source keeps the headers that it names, and no secret that a prefix matches or a sender adds", async () => {
  const source = await cabinet.source("GitHub", SETTINGS)
  const { id } = await post(
    `${cabinet.address(source)}?shop=%D1%8F+1`,
    '{"action":"opened","issue":{"id":9007199254740993}}',
  )
  assert.deepStrictEqual(await keptOf(id), {
    headers: [
      { name: "x-github-event", value: "issues" },
      { name: "x-github-delivery", value: "72d3162e-cc78-11e3" },
      { name: "x-hub-signature-256", value: "sha256=757107ea" },
    ],
    query: "shop=%D1%8F+1",
  })
  const [item] = await cabinet.feed(source.id)
  assert.strictEqual(
    payloadText(item!),
    '{"X-GitHub-Event":"issues","shop":"я 1","action":"opened","issue":{"id":9007199254740993}}',
  )
  const [row] = await database.run(`SELECT x_github_event, action FROM sources."${source.table!.name}"`)
  assert.deepStrictEqual(row, { x_github_event: "issues", action: "opened" })
  const [everything] = await database.run(
    `SELECT (SELECT jsonb_agg(e) FROM cabinet.event e)::text || (SELECT jsonb_agg(o) FROM cabinet.original_request o)::text AS text`,
  )
  assert.notInclude(String(everything!["text"]), "hush-hush")
})

it("header fields are in every event of a batch and in an unparsable body, and do not affect repeats", async () => {
  const source = await cabinet.source("Batches", SETTINGS)
  const url = cabinet.address(source)
  const first = await post(url, '[{"a":1},{"a":2}]')
  const again = await post(url, '[{"a":2},{"a":3}]', { ...GITHUB, "x-github-event": "push" })
  assert.deepStrictEqual(
    [...first["results"], ...again["results"]].map(({ duplicate }: { duplicate: boolean }) => duplicate),
    [false, false, true, false],
  )
  const broken = await post(url, "{")
  assert.deepInclude(broken, { status: 400, error: "bad_json", empty: true })
  const { "content-encoding": _, ...plain } = { ...GITHUB, "content-encoding": "gzip" }
  const undecodable = await post(url, "not gzip", { ...plain, "content-encoding": "gzip" })
  assert.deepInclude(undecodable, { status: 400, error: "bad_encoding", empty: true })
  const payloads = (await cabinet.feed(source.id)).map((item) => payloadText(item))
  assert.deepStrictEqual(payloads.slice(0, 5), [
    '{"X-GitHub-Event":"issues","a":1}',
    '{"X-GitHub-Event":"issues","a":2}',
    '{"X-GitHub-Event":"push","a":2}',
    '{"X-GitHub-Event":"push","a":3}',
    payloads[4],
  ])
  for (const payload of payloads.slice(4)) assert.match(payload, /^{"X-GitHub-Event":"issues","_raw":/)
})

it("a change of the kept headers applies from the next request on, even in a server that has cached the source", async () => {
  const source = await cabinet.source("Changing")
  const url = cabinet.address(source)
  const kept = async (n: number) => keptOf((await post(url, `{"n":${n}}`))["id"])
  assert.isUndefined(await kept(1))
  await change(source.id, { keepHeaders: ["X-GitHub-Event"] })
  assert.deepStrictEqual(await kept(2), { headers: [{ name: "x-github-event", value: "issues" }], query: null })
  await change(source.id, { keepQuery: true })
  assert.deepStrictEqual(await kept(3), { headers: [{ name: "x-github-event", value: "issues" }], query: "" })
  await change(source.id, { keepHeaders: [], keepQuery: false })
  assert.isUndefined(await kept(4))
  const [item] = await cabinet.feed(source.id)
  assert.strictEqual(payloadText(item!), '{"n":1}')
})

it("long headers are fields of a hundred objects, as sent", async () => {
  const source = await cabinet.source("Long", { headerFields: ["X-Long"] })
  const long = "x".repeat(10_000)
  const body = `[${Array.from({ length: 100 }, (_, n) => `{"n":${n}}`).join()}]`
  assert.deepInclude(await post(cabinet.address(source), body, { ...GITHUB, "x-long": long }), {
    status: 200,
    count: 100,
  })
  const items = await cabinet.feed(source.id)
  for (const [n, item] of items.entries()) assert.strictEqual(payloadText(item), `{"X-Long":"${long}","n":${n}}`)
})

it("erasing an event erases the headers and the query of its request", async () => {
  const source = await cabinet.source("Erased", SETTINGS)
  const { id } = await post(`${cabinet.address(source)}?private=1`, '{"a":1}', {
    ...GITHUB,
    "x-github-event": "forget-me",
  })
  await cabinet.run(Trash.use((trash) => trash.purge([id])))
  const [left] = await database.run(
    `SELECT (SELECT jsonb_agg(e) FROM cabinet.event e WHERE source_id = ${source.id})::text
       || coalesce((SELECT jsonb_agg(o) FROM cabinet.original_request o WHERE source_id = ${source.id})::text, '') AS text`,
  )
  assert.notInclude(String(left!["text"]), "forget-me")
  assert.notInclude(String(left!["text"]), "private")
})
