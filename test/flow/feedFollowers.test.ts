/** Positions of the feed that the cabinet keeps for clients: read by name, acknowledged, reset, and ended with their key. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Followers } from "@data-cabinet/core/follower/Followers"
import { MAX_CLIENT_FOLLOWERS, MAX_FOLLOWERS_OF_KEY } from "@data-cabinet/core/follower/ClientFollower"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { beginMinute } from "../support/minute.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ApiCabinet
let key = ""
let orders: SourceWithSecret
let letters: SourceWithSecret
let ids: ReadonlyArray<number> = []
beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  orders = await cabinet.source("Orders")
  letters = await cabinet.source("Letters")
  const sent = []
  for (let n = 0; n < 6; n++) sent.push((await cabinet.send(orders.intakeSecret, `{"n":${n}}`)).id as number)
  sent.push((await cabinet.send(letters.intakeSecret, '{"n":6}')).id as number)
  ids = sent
})
afterAll(() => cabinet.close())
beforeEach(async () => {
  await database.run("DELETE FROM cabinet.client_follower")
  key = await cabinet.key()
})

interface Answer {
  readonly status: number
  readonly json: any
}

const request = async (path: string, by: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(`${cabinet.base}/api/v1/${path}`, { ...init, headers: { "x-api-key": by } })
  return { status: response.status, json: await response.json() }
}

/** A page of a follower, as the ids of its events, and where it ends. */
const read = async (name: string, { by = key, query = "&limit=2" } = {}) => {
  const { status, json } = await request(`events?follower=${name}${query}`, by)
  assert.strictEqual(status, 200, JSON.stringify(json))
  return { ids: (json.data as ReadonlyArray<{ id: number }>).map(({ id }) => id), cursor: json.next_cursor as string }
}

const ack = (name: string, cursor: string, { by = key, query = "" } = {}) =>
  request(`events/ack?follower=${name}&cursor=${cursor}${query}`, by, { method: "POST" })

const refusal = ({ status, json }: Answer) => [status, json.error.code, json.error.param]

const listed = async () =>
  (await cabinet.run(Followers.use(({ list }) => list))).filter(({ kind }) => kind === "client")

it("GET /events?follower reads from the last acknowledged position, and moves nothing", async () => {
  const first = await read("erp")
  assert.deepStrictEqual(first.ids, ids.slice(0, 2))
  assert.deepStrictEqual((await read("erp")).ids, first.ids)
  assert.deepStrictEqual(await listed(), [])
  const { status, json } = await ack("erp", first.cursor)
  assert.deepStrictEqual([status, json.follower, json.moved], [200, "erp", true])
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(2, 4))
  assert.deepStrictEqual((await read("crm")).ids, ids.slice(0, 2))
})

it("an acknowledgement moves a position forward only: a repeat and a late one change nothing", async () => {
  const first = await read("erp")
  await ack("erp", first.cursor)
  const second = await read("erp")
  await ack("erp", second.cursor)
  for (const cursor of [first.cursor, second.cursor]) {
    const { status, json } = await ack("erp", cursor)
    assert.deepStrictEqual([status, json.moved], [200, false])
  }
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(4, 6))
})

it("two clients of one name both get the events that neither has acknowledged, and the later position counts", async () => {
  const [one, other] = await Promise.all([read("erp"), read("erp", { query: "&limit=4" })])
  assert.deepStrictEqual(other.ids.slice(0, 2), one.ids)
  const receipts = await Promise.all([ack("erp", one.cursor), ack("erp", other.cursor)])
  assert.isTrue(receipts[1].json.moved)
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(4, 6))
  assert.lengthOf(await listed(), 1)
})

it("a follower belongs to its key: another key has its own, and a rotated key goes on", async () => {
  const other = await cabinet.key("other")
  await ack("erp", (await read("erp")).cursor)
  assert.deepStrictEqual((await read("erp", { by: other })).ids, ids.slice(0, 2))
  const old = (await cabinet.run(ApiKeys.use(({ list }) => list({ after: 0, limit: 1_000 })))).at(-2)!
  const rotate = (id: number) => cabinet.run(ApiKeys.use((keys) => keys.rotate(id, { keepOldSeconds: 3_600 })))
  const next = await rotate(old.id)
  assert.deepStrictEqual((await read("erp", { by: next.key })).ids, ids.slice(2, 4))
  const last = await rotate(next.id)
  await ack("erp", (await read("erp", { by: last.key })).cursor, { by: last.key })
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(4, 6), "the old key still reads the same position")
  for (const { id } of [old, next, last]) await cabinet.run(ApiKeys.use((keys) => keys.revoke(id)))
  assert.deepStrictEqual(await listed(), [], "a position ends with its key")
})

it("a reader with a list moves through its own events, and has no position in another source", async () => {
  const only = ["sources.letters"]
  const issue = AccessTokens.use((tokens) =>
    tokens.issue({ name: "few", role: "reader", expiresInSeconds: 3_600, only }),
  )
  const { token } = await cabinet.run(issue)
  const first = await read("erp", { by: token })
  assert.deepStrictEqual(first.ids, ids.slice(6))
  const of = `&source_id=${orders.id}`
  assert.deepStrictEqual(refusal(await request(`events?follower=erp${of}`, token)), [
    404,
    "no_such_source",
    "source_id",
  ])
  const { cursor } = await read("orders", { query: of })
  assert.deepStrictEqual(refusal(await ack("erp", cursor, { by: token, query: of })), [
    404,
    "no_such_source",
    "source_id",
  ])
  await ack("erp", (await read("erp", { by: token, query: "&limit=1" })).cursor, { by: token })
  const [follower] = await listed()
  assert.deepStrictEqual([follower!.name, follower!.key, follower!.behind], ["erp", "few", 0])
})

it("a follower reads the source and channel that it began with, and its lag counts only those", async () => {
  const query = `&source_id=${letters.id}&channel=webhook`
  await cabinet.send(letters.intakeSecret, '{"n":7}')
  const { cursor } = await read("post", { query: `${query}&limit=1` })
  assert.strictEqual((await ack("post", cursor, { query })).status, 200)
  assert.deepStrictEqual(refusal(await request("events?follower=post", key)), [400, "bad_follower", "follower"])
  const { cursor: other } = await read("other")
  assert.deepStrictEqual(refusal(await ack("post", other)), [400, "bad_follower", "follower"])
  assert.deepStrictEqual(refusal(await ack("post", cursor)), [400, "bad_cursor", "cursor"])
  const [follower] = await listed()
  assert.deepStrictEqual([follower!.sourceId, follower!.channel, follower!.behind], [letters.id, "webhook", 1])
})

it("reset moves a position back or forward, and an acknowledgement of an earlier page does not undo it", async () => {
  await ack("erp", (await read("erp")).cursor)
  const inWork = await read("erp")
  const { id } = (await listed())[0]!
  await cabinet.run(Followers.use((followers) => followers.reset(id, "beginning")))
  assert.isFalse((await ack("erp", inWork.cursor)).json.moved)
  const again = await read("erp")
  assert.deepStrictEqual(again.ids, ids.slice(0, 2))
  assert.isTrue((await ack("erp", again.cursor)).json.moved)
  await cabinet.run(Followers.use((followers) => followers.reset(id, "now")))
  assert.deepStrictEqual((await read("erp")).ids, [])
  await cabinet.run(Followers.use((followers) => followers.reset(id, again.cursor)))
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(2, 4))
  await cabinet.run(Followers.use((followers) => followers.reset(id, "2020-01-01T00:00:00Z")))
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(0, 2))
  for (const to of ["", "soon", `${again.cursor}x`]) {
    const failed = await cabinet.run(Followers.use((followers) => followers.reset(id, to)).pipe(Effect.flip))
    assert.propertyVal(failed, "code", "bad_start")
  }
})

it("remove forgets a follower, and a program at work creates it again where it is", async () => {
  await ack("erp", (await read("erp")).cursor)
  const inWork = await read("erp")
  const { id } = (await listed())[0]!
  await cabinet.run(Followers.use((followers) => followers.remove(id)))
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(0, 2))
  assert.isTrue((await ack("erp", inWork.cursor)).json.moved)
  assert.deepStrictEqual((await read("erp")).ids, ids.slice(4, 6))
  const gone = await cabinet.run(Followers.use((followers) => followers.remove(id)).pipe(Effect.flip))
  assert.propertyVal(gone, "code", "no_such_follower")
})

it("a key may have so many followers, a cabinet so many, and those of ended keys do not count", async () => {
  const { cursor } = await read("erp")
  for (let n = 0; n < MAX_FOLLOWERS_OF_KEY; n++) assert.strictEqual((await ack(`erp-${n}`, cursor)).status, 200)
  assert.deepStrictEqual(refusal(await ack("more", cursor)), [409, "too_many_followers", "follower"])
  assert.strictEqual((await ack("erp-0", cursor)).status, 200)
  await database.run(`INSERT INTO cabinet.client_follower (key_id, name, epoch, xid, event_id, position)
    SELECT (SELECT max(id) FROM cabinet.api_key), 'x' || n, 0, 0, 0, '["0","0","0","0"]'
    FROM generate_series(1, ${MAX_CLIENT_FOLLOWERS - MAX_FOLLOWERS_OF_KEY}) n`)
  const other = await cabinet.key("other")
  assert.deepStrictEqual(refusal(await ack("erp", cursor, { by: other })), [409, "too_many_followers", "follower"])
  const full = (await cabinet.run(ApiKeys.use(({ list }) => list({ after: 0, limit: 1_000 })))).at(-2)!
  await cabinet.run(ApiKeys.use((keys) => keys.revoke(full.id)))
  assert.strictEqual((await ack("erp", cursor, { by: other })).status, 200)
})

it("names, parameters and methods that do not fit are refused in words", async () => {
  const { cursor } = await read("erp")
  for (const query of [
    "follower=",
    "follower=a%20b",
    `follower=${"a".repeat(65)}`,
    "follower=%00",
    "follower=a&follower=a",
    `follower=a&cursor=${cursor}`,
  ]) {
    assert.deepStrictEqual(refusal(await request(`events?${query}`, key)), [400, "bad_follower", "follower"], query)
  }
  const post = (query: string) => request(`events/ack?${query}`, key, { method: "POST" })
  assert.deepStrictEqual(refusal(await post(`cursor=${cursor}`)), [400, "bad_follower", "follower"])
  assert.deepStrictEqual(refusal(await post("follower=erp")), [400, "bad_cursor", "cursor"])
  assert.deepStrictEqual(refusal(await post("follower=erp&cursor=x")), [400, "bad_cursor", "cursor"])
  assert.deepStrictEqual(refusal(await post(`follower=erp&cursor=${cursor}&limit=1`)), [400, "unknown_param", "limit"])
  for (const method of ["GET", "PUT", "DELETE"]) {
    const response = await fetch(`${cabinet.base}/api/v1/events/ack`, { method, headers: { "x-api-key": key } })
    assert.deepStrictEqual([response.status, response.headers.get("allow")], [405, "POST"], method)
    assert.isNotNull(response.headers.get("x-ratelimit-limit"))
  }
  const strange = await fetch(`${cabinet.base}/api/v1/events/ack?follower=erp&cursor=${cursor}`, { method: "POST" })
  assert.strictEqual(strange.status, 401)
})

it("an acknowledgement counts as a request of its key, is never cached, and needs no body", async () => {
  await beginMinute(database)
  const { cursor } = await read("erp")
  const response = await fetch(`${cabinet.base}/api/v1/events/ack?follower=erp&cursor=${cursor}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: "{}",
  })
  assert.strictEqual(response.status, 200)
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
  assert.strictEqual(response.headers.get("x-ratelimit-remaining"), "99998")
})

it("a waiting request and a stream of a follower begin at its position", async () => {
  const { cursor } = await read("erp", { query: "&limit=5" })
  await ack("erp", cursor)
  const headers = { "x-api-key": key }
  const waiting = await fetch(`${cabinet.base}/api/v1/events?follower=erp&limit=1`, {
    headers: { ...headers, prefer: "wait=5" },
  })
  assert.strictEqual(((await waiting.json()) as { data: [{ id: number }] }).data[0].id, ids[5])
  const leave = new AbortController()
  const stream = await fetch(`${cabinet.base}/api/v1/events?follower=erp&limit=1`, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: leave.signal,
  })
  let text = ""
  for await (const chunk of stream.body!) {
    text += Buffer.from(chunk).toString()
    if (/^id: .*\n/m.test(text)) break
  }
  leave.abort()
  const [, id] = /^id: ?(\S+)$/m.exec(text)!
  assert.isTrue((await ack("erp", id!)).json.moved)
  assert.deepStrictEqual((await read("erp", { query: "&limit=1" })).ids, [ids[6]])
})
