/** The feed for waiting clients over HTTP: pages that wait for the next event, and streams. */
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"

const database = withDatabase()
let here: ApiCabinet
/** Another process of the same cabinet. */
let there: ApiCabinet
let key = ""
let orders: SourceWithSecret
let letters: SourceWithSecret
beforeAll(async () => {
  here = await apiCabinet(database.url)
  there = await apiCabinet(database.url)
  key = await here.key()
  orders = await here.source("Orders")
  letters = await here.source("Letters")
  await here.send(orders.intakeSecret, '{"n":0}')
})
afterAll(() => Promise.all([here.close(), there.close()]))

interface Page {
  readonly data: ReadonlyArray<{ readonly id: number; readonly payload: { readonly n?: number } }>
  readonly has_more: boolean
  readonly next_cursor: string
}

let sent = 0
const send = (by: ApiCabinet, source: SourceWithSecret, n = ++sent) => by.send(source.intakeSecret, `{"n":${n}}`)

const ask = (by: ApiCabinet, query: string, headers: Readonly<Record<string, string>>, init: RequestInit = {}) =>
  fetch(`${by.base}/api/v1/events${query}`, { ...init, headers: { "x-api-key": key, ...headers } })

const pageOf = async (response: Response): Promise<Page> => {
  assert.strictEqual(response.status, 200)
  return (await response.json()) as Page
}

/** The cursor of the feed's end. */
const end = async (filter = "", who: Readonly<Record<string, string>> = {}): Promise<string> => {
  for (let query = `?limit=1000${filter}`; ;) {
    const { has_more, next_cursor } = await pageOf(await ask(here, query, who))
    if (!has_more) return next_cursor
    query = `?limit=1000${filter}&cursor=${next_cursor}`
  }
}

const soon = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** The response to a wait if `act` happens a moment after it began. */
const waited = async (
  by: ApiCabinet,
  query: string,
  act: () => Promise<unknown>,
  headers: Readonly<Record<string, string>> = {},
) => {
  const asked = ask(by, query, { prefer: "wait=60", ...headers })
  await soon(400)
  const [response] = await Promise.all([asked, act()])
  return response
}

interface Streamed {
  readonly id: string
  readonly n: number | undefined
}

/** The first events of a stream; `act` happens once it has begun. */
const streamed = async (
  by: ApiCabinet,
  query: string,
  count: number,
  act: () => Promise<unknown> = async () => {},
  headers: Readonly<Record<string, string>> = {},
) => {
  const leave = new AbortController()
  const response = await ask(by, query, { accept: "text/event-stream", ...headers }, { signal: leave.signal })
  assert.strictEqual(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
  const events: Array<Streamed> = []
  let text = ""
  let acted: Promise<unknown> | undefined
  for await (const chunk of response.body!) {
    acted ??= act()
    text += Buffer.from(chunk).toString()
    events.length = 0
    for (const [, id, data] of text.matchAll(/id: ([^\n]+)\ndata: ([^\n]+)\n\n/g)) {
      events.push({ id: id!, n: (JSON.parse(data!) as Page["data"][number]).payload.n })
    }
    if (events.length >= count) break
  }
  leave.abort()
  await acted
  return events
}

it("an empty page waits for the next event, of this process or another", async () => {
  for (const by of [here, there]) {
    const cursor = await end()
    const response = await waited(here, `?cursor=${cursor}`, () => send(by, orders))
    assert.strictEqual(response.headers.get("preference-applied"), "wait=60")
    assert.strictEqual(response.headers.get("vary"), "Accept, Prefer")
    assert.strictEqual(response.headers.get("content-type"), "application/json")
    const page = await pageOf(response)
    assert.deepStrictEqual(
      page.data.map(({ payload }) => payload.n),
      [sent],
    )
    assert.strictEqual((await pageOf(await ask(here, `?cursor=${page.next_cursor}`, {}))).data.length, 0)
  }
})

it("a page with events does not wait, and a filtered page waits for an event that it shows", async () => {
  const cursor = await end()
  await send(here, orders)
  const at = performance.now()
  const full = await ask(here, `?cursor=${cursor}`, { prefer: "respond-async, wait=60" })
  assert.isBelow(performance.now() - at, 50_000)
  assert.strictEqual(full.headers.get("preference-applied"), "wait=60")
  assert.strictEqual((await pageOf(full)).data.length, 1)
  const own = await end(`&source_id=${letters.id}`)
  const response = await waited(here, `?source_id=${letters.id}&cursor=${own}`, async () => {
    await send(there, orders)
    await soon(200)
    await send(there, letters, 77)
  })
  assert.deepStrictEqual(
    (await pageOf(response)).data.map(({ payload }) => payload.n),
    [77],
  )
})

it("a wait that ends returns an empty page with its cursor, and counts as one request", async () => {
  const cursor = await end()
  const at = performance.now()
  const response = await ask(here, `?cursor=${cursor}`, { prefer: 'wait="1"' })
  assert.deepStrictEqual(await pageOf(response), { data: [], has_more: false, next_cursor: cursor })
  assert.isAtLeast(performance.now() - at, 900)
  const left = (one: Response) => Number(one.headers.get("x-ratelimit-remaining"))
  const next = left(await ask(here, `?cursor=${cursor}`, {}))
  // Unless a new minute has begun.
  assert.include([left(response) - 1, 99_999], next)
})

it("an unknown preference is ignored, and HEAD does not wait", async () => {
  const cursor = await end()
  for (const prefer of ["wait=soon", "wait=-1", "wait", "waiting=20", "await=20", "wait=1.5"]) {
    const response = await ask(here, `?cursor=${cursor}`, { prefer })
    assert.strictEqual(response.headers.get("preference-applied"), null, prefer)
    assert.strictEqual((await pageOf(response)).data.length, 0)
  }
  const none = await ask(here, `?cursor=${cursor}`, { prefer: "wait=0" })
  assert.strictEqual(none.headers.get("preference-applied"), "wait=0")
  const head = await ask(here, `?cursor=${cursor}`, { prefer: "wait=20" }, { method: "HEAD" })
  assert.deepStrictEqual([head.status, head.headers.get("preference-applied")], [200, null])
  const streamHead = await ask(here, `?cursor=${cursor}`, { accept: "text/event-stream" }, { method: "HEAD" })
  assert.strictEqual(streamHead.headers.get("content-type"), "text/event-stream; charset=utf-8")
  // A client that accepts anything gets JSON.
  const any = await ask(here, `?cursor=${cursor}`, { accept: "text/html, */*" })
  assert.strictEqual(any.headers.get("content-type"), "application/json")
  const wrong = await ask(here, "?cursor=nonsense", { accept: "text/event-stream" })
  assert.deepStrictEqual([wrong.status, wrong.headers.get("content-type")], [400, "application/json"])
})

it("a stream continues from the id of its last event: nothing is missed or repeated", async () => {
  const cursor = await end()
  const first = sent + 1
  const got: Array<number | undefined> = []
  let last = ""
  for (let round = 0; round < 4; round++) {
    const by = round % 2 === 0 ? here : there
    const act = async () => {
      for (let n = 0; n < 5; n++) await send(n % 2 === 0 ? here : there, n < 3 ? orders : letters)
    }
    // The client leaves in the middle of the stream.
    const events = await streamed(by, `?cursor=${cursor}`, 3, act, last === "" ? {} : { "last-event-id": last })
    got.push(...events.map(({ n }) => n))
    last = events.at(-1)!.id
  }
  const rest = sent - first + 1 - got.length
  if (rest > 0) {
    const events = await streamed(here, `?cursor=${cursor}`, rest, undefined, { "last-event-id": last })
    got.push(...events.map(({ n }) => n))
  }
  assert.deepStrictEqual(
    got,
    Array.from({ length: sent - first + 1 }, (_, index) => first + index),
  )
})

it("an event with several lines of text is sent as one event", async () => {
  const cursor = await end()
  await here.send(orders.intakeSecret, '{\r\n  "n": 5000,\n  "text": "a"\r}')
  const response = await ask(here, `?cursor=${cursor}`, { accept: "text/event-stream" })
  const reader = response.body!.getReader()
  let text = ""
  while (!/^id: [^]*\n\n/m.test(text)) text += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()
  const lines = text.slice(text.indexOf("id: ")).trimEnd().split("\n").slice(1)
  assert.isTrue(lines.every((line) => line.startsWith("data: ")))
  const event = JSON.parse(lines.map((line) => line.slice(6)).join("\n")) as Page["data"][number]
  assert.strictEqual(event.payload.n, 5000)
})

it("revoking a key ends its streams, and its waits return no events", async () => {
  const { id, key: other } = await here.run(ApiKeys.use((keys) => keys.issue("other")))
  const who = { "x-api-key": other }
  const cursor = await end()
  const stream = await ask(here, `?cursor=${cursor}`, { ...who, accept: "text/event-stream" })
  const whole = stream.text()
  const waits = waited(
    here,
    `?cursor=${cursor}`,
    async () => {
      await there.run(ApiKeys.use((keys) => keys.revoke(id)))
      await send(here, orders)
    },
    who,
  )
  assert.strictEqual((await waits).status, 401)
  assert.strictEqual(await whole, "retry: 2000\n\n")
  const idle = await here.run(ApiKeys.use((keys) => keys.issue("idle")))
  const quiet = await ask(here, `?cursor=${await end()}`, { "x-api-key": idle.key, accept: "text/event-stream" })
  await here.run(ApiKeys.use((keys) => keys.revoke(idle.id)))
  assert.strictEqual(await quiet.text(), "retry: 2000\n\n")
})

it("a reader with a list waits for its own events, and for no others once the list is gone", async () => {
  const issued = await here.run(
    AccessTokens.use((tokens) =>
      tokens.issue({
        name: "reader",
        role: "reader",
        only: [`sources.${orders.table!.name}`],
        expiresInSeconds: 3_600,
      }),
    ),
  )
  const who = { "x-api-key": issued.token }
  const cursor = await end("", who)
  const act = async () => {
    await send(there, letters)
    await send(there, orders, 4242)
  }
  const page = await pageOf(await waited(here, `?cursor=${cursor}`, act, who))
  assert.deepStrictEqual(
    page.data.map(({ payload }) => payload.n),
    [4242],
  )
  const events = await streamed(here, `?cursor=${cursor}`, 2, () => Promise.all([act(), send(here, orders, 4243)]), who)
  assert.isTrue(events.every(({ n }) => n === 4242 || n === 4243))
})

it("the management API's feed also waits, and refuses events that its caller may no longer see", async () => {
  const { id, token } = await here.run(
    AccessTokens.use((tokens) => tokens.issue({ name: "viewer", role: "viewer", expiresInSeconds: null })),
  )
  const cursor = await end()
  const asked = (wait: string) =>
    fetch(`${here.base}/manage/v1/feed?cursor=${cursor}&wait=${wait}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  const empty = await asked("1")
  assert.deepStrictEqual(await pageOf(empty), { data: [], has_more: false, next_cursor: cursor })
  assert.strictEqual((await asked("61")).status, 400)
  const gone = asked("60")
  await soon(400)
  const full = asked("60")
  await soon(400)
  await here.run(AccessTokens.use((tokens) => tokens.revoke(id)))
  await send(there, orders)
  assert.deepStrictEqual([(await gone).status, (await full).status], [401, 401])
})

const SESSIONS =
  "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"

/** Counts the waits of a server that have begun: each has its place by then. */
const countingWaits = async (server: ApiCabinet) => {
  const counted = vi.spyOn(await server.run(FollowFeed.use((followed) => Effect.succeed(followed))), "next")
  return (count: number) => vi.waitFor(() => expect(counted).toHaveBeenCalledTimes(count), { timeout: 120_000 })
}

it("waits use no session of the database, and the eleventh of a key is refused with a message", async () => {
  const keys = [key, ...(await Promise.all(["a", "b", "c", "d"].map((name) => here.key(name))))]
  const cursor = await end()
  const sessions = async () => Number((await runSql(database.url, SESSIONS))[0]!["count"])
  // One listens.
  await pageOf(await ask(here, `?cursor=${cursor}`, { prefer: "wait=1" }))
  const before = await sessions()
  const waiting = await countingWaits(here)
  const open = keys.flatMap((own) =>
    Array.from({ length: 10 }, () => ask(here, `?cursor=${cursor}`, { "x-api-key": own, prefer: "wait=60" })),
  )
  await waiting(open.length)
  await expect.poll(sessions).toBeLessThanOrEqual(before + 2)
  const refused = await ask(here, `?cursor=${cursor}`, { prefer: "wait=20" })
  assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "5"])
  assert.include(await refused.text(), "You already have 10 open waiting requests and streams")
  const stream = await ask(here, `?cursor=${cursor}`, { accept: "text/event-stream" })
  assert.strictEqual(stream.status, 429)
  // A request that does not wait is not affected.
  await pageOf(await ask(here, `?cursor=${cursor}`, {}))
  await send(there, orders)
  for (const response of await Promise.all(open)) assert.strictEqual((await pageOf(response)).data.length, 1)
  await pageOf(await ask(here, `?cursor=${cursor}`, { prefer: "wait=20" }))
})

it("a server that stops ends waits and streams first", async () => {
  const stopping = await apiCabinet(database.url)
  const cursor = await end()
  const waiting = await countingWaits(stopping)
  const wait = ask(stopping, `?cursor=${cursor}`, { prefer: "wait=60" })
  const stream = await ask(stopping, `?cursor=${cursor}`, { accept: "text/event-stream" })
  const whole = stream.text()
  await waiting(2)
  const at = performance.now()
  await stopping.close()
  assert.isBelow(performance.now() - at, 50_000)
  assert.deepStrictEqual(await pageOf(await wait), { data: [], has_more: false, next_cursor: cursor })
  assert.strictEqual(await whole, "retry: 2000\n\n")
})
