/** New events on the console's screens: the streams that the script reads, and the links that work without it. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let headers: Readonly<Record<string, string>>
let viewer: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 3)
  headers = await cabinet.as("viewer")
  viewer = visitor(cabinet.base, headers)
})
afterAll(() => cabinet.close())

const send = async (intakeUrl: string, items: string) => {
  const json = { "content-type": "application/json" }
  const sent = await fetch(intakeUrl, { method: "POST", headers: json, body: items })
  assert.strictEqual(sent.status, 200, await sent.text())
}

/** The address of the stream in a screen's link. */
const streamOf = async (path: string): Promise<string> => {
  const { text } = await viewer.get(path)
  const [, address] = /data-live="([^"]+)"/.exec(text) ?? []
  assert.isDefined(address, path)
  return new URL(address!.replaceAll("&amp;", "&"), cabinet.base).href
}

/** The first events of a stream: each with its id and data. */
const read = async (address: string, events: number, more: Readonly<Record<string, string>> = {}) => {
  const leave = new AbortController()
  const response = await fetch(address, { headers: { ...headers, ...more }, signal: leave.signal })
  assert.match(response.headers.get("content-type")!, /^text\/event-stream/)
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
  const read_: Array<{ id: string; data: string }> = []
  let text = ""
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString()
    const all = [...text.matchAll(/id: ([^\n]+)\ndata: ([^\n]+)\n\n/g)]
    read_.splice(0, read_.length, ...all.map(([, id, data]) => ({ id: id!, data: data! })))
    if (read_.length >= events) break
  }
  leave.abort()
  return read_
}

it("a stream continues from the screen's state, and again from its last event", async () => {
  const address = await streamOf("/console/events")
  await send(cabinet.source.intakeUrl, '[{"a":1},{"a":2}]')
  const [first] = await read(address, 1)
  assert.strictEqual(first!.data, "2 2 0")
  await send(cabinet.source.intakeUrl, '[{"a":3},{"a":3},{"a":4}]')
  const [second] = await read(address, 1, { "last-event-id": first!.id })
  assert.strictEqual(second!.data, "3 2 0")
  // The id is a cursor of the feed.
  const feed = await fetch(`${cabinet.base}/api/v1/events?cursor=${encodeURIComponent(first!.id)}`, {
    headers: { "x-api-key": cabinet.key },
  })
  assert.strictEqual(((await feed.json()) as { data: ReadonlyArray<unknown> }).data.length, 3)
})

it("a table, a source and a filtered list follow their own events", async () => {
  const other = await cabinet.cabinet.sources.create({ name: "Other" })
  const addresses = await Promise.all(
    [
      `/console/tables/sources/orders`,
      `/console/sources/${other.id}`,
      `/console/events?source_id=${other.id}&channel=webhook`,
    ].map(streamOf),
  )
  await send(cabinet.source.intakeUrl, '{"own":1}')
  await send(other.intakeUrl, '[{"own":2},{"own":3}]')
  const counts = await Promise.all(addresses.map(async (address) => (await read(address, 1))[0]!.data))
  assert.deepStrictEqual(counts, ["1 1 0", "2 2 0", "2 2 0"])
})

it("without a script the screen has a link to itself, and objects other than sources' tables have none", async () => {
  const narrowed = (await viewer.get("/console/events?text=x")).text
  assert.match(
    narrowed,
    /<a class="button live" href="\/data\/console\/events\?text=x"[^>]* data-counts="some"[^>]*>Reload<\/a>/,
  )
  assert.notInclude((await viewer.get("/console/trash")).text, "data-live")
})

it("the first event of a source appears in its placeholder", async () => {
  const source = await cabinet.cabinet.sources.create({ name: "Fresh" })
  const path = `/console/sources/${source.id}`
  const empty = (await viewer.get(path)).text
  assert.match(empty, /<div id="recent-events"><p class="card soft" data-waiting>/)
  assert.include(empty, `data-first="recent-events" data-from="/data${path}/recent"`)
  await send(source.intakeUrl, '{"hello":"<b>"}')
  const inside = await fetch(`${cabinet.base}${path}/recent`, { headers: { ...headers, "x-fragment": "1" } })
  assert.match(await inside.text(), /^<div class="card flush"><table[^]*hello[^]*&lt;b&gt;/)
})

it("is only for permitted clients, limited for each, and refuses others with a message", async () => {
  const address = await streamOf("/console/events")
  const uploader = await cabinet.as("uploader")
  assert.strictEqual((await fetch(address, { headers: uploader })).status, 403)
  const stranger = await fetch(address, { redirect: "manual" })
  assert.strictEqual(stranger.status, 303)
  const forged = await fetch(`${cabinet.base}/console/live?cursor=nonsense`, { headers })
  assert.strictEqual(forged.status, 400)
  const open = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const leave = new AbortController()
      const response = await fetch(address, { headers, signal: leave.signal })
      await response.body!.getReader().read()
      return leave
    }),
  )
  const refused = await fetch(address, { headers })
  assert.strictEqual(refused.status, 409)
  assert.include(await refused.text(), "You already have 10 open streams")
  for (const leave of open) leave.abort()
})

it("ends within seconds after the token is revoked", async () => {
  const { token, id } = await cabinet.cabinet.tokens.create({ name: "soon gone", role: "viewer" })
  const bearer = { authorization: `Bearer ${token}` }
  const response = await fetch(await streamOf("/console/events"), { headers: bearer })
  const whole = response.text()
  await cabinet.cabinet.tokens.revoke(id)
  assert.match(await whole, /^retry: 2000\n\n/)
})
