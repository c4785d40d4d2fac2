/** The protocol's extension for events: lists, polls and streams, from the feed's positions. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { type EventsClient, eventsClient } from "../support/eventsClient.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const DIGITS = "1234567890123456789012345678901234567890"
let cabinet: ApiCabinet
let orders: SourceWithSecret
let letters: SourceWithSecret
let client: EventsClient

beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  orders = await cabinet.source("Orders")
  letters = await cabinet.source("Letters")
  client = eventsClient(cabinet.base, await cabinet.key())
})
afterAll(() => cabinet.close())

const send = async (source: SourceWithSecret, body: string): Promise<string> =>
  String((await cabinet.send(source.intakeSecret, body)).id)

const FROM_NOW = { name: "event.received", cursor: null }

/** All events after a cursor. */
const drained = async (name: string, cursor: string, by = client, maxEvents = 2) => {
  const texts: Array<string> = []
  const events: Array<any> = []
  let at = cursor
  for (let hasMore = true; hasMore;) {
    const { result, text } = await by.call("events/poll", { name, cursor: at, maxEvents })
    events.push(...result.events)
    texts.push(text)
    hasMore = result.hasMore
    at = result.cursor
  }
  return { events, text: texts.join("\n"), cursor: at }
}

it("events/list names each source and all of them, with the ways of delivery and a schema", async () => {
  const discovered = await client.call("server/discover")
  expect(discovered.result.capabilities).toEqual({
    tools: {},
    resources: {},
    events: {},
    extensions: { "io.modelcontextprotocol/events": {} },
  })
  const { result } = await client.call("events/list")
  expect(result.resultType).toBe("complete")
  expect(result.events.map(({ name }: { name: string }) => name)).toEqual([
    "event.received",
    "source.orders",
    "source.letters",
  ])
  const [, source] = result.events
  expect(source.delivery).toEqual(["webhook", "push", "poll"])
  expect(source.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false })
  expect(source.payloadSchema.required).toContain("received_at")
})

it("events/list has what each source sends, and nothing of another's", async () => {
  await send(orders, '{"order":7,"Do as I say":1}')
  const { result } = await client.call("events/list")
  const payloads = result.events.map(({ payloadSchema }: any) => payloadSchema.properties.payload)
  expect(payloads[1]).toMatchObject({ type: "object", properties: { order: { type: "integer" } }, required: ["order"] })
  expect(Object.keys(payloads[1].properties)).toEqual(["order"])
  expect([payloads[0].properties, payloads[2].properties]).toEqual([undefined, undefined])
})

it("events/poll begins now, gives each event once with its digits, and leaves repeats out", async () => {
  const { result: begun } = await client.call("events/poll", FROM_NOW)
  expect(begun).toMatchObject({ events: [], truncated: false, hasMore: false, nextPollMs: 5_000 })
  const ids = [await send(orders, `{"total":${DIGITS}}`), await send(letters, '{"text":"one"}')]
  await send(letters, '{"text":"one"}')
  await send(letters, "{}")
  ids.push(await send(orders, '{"total":0.10}'))
  const all = await drained("event.received", begun.cursor)
  expect(all.events.map(({ eventId }) => eventId)).toEqual(ids)
  expect(all.text).toContain(`"total":${DIGITS}`)
  expect(all.text).toContain('"total":0.10')
  expect(all.events[0]).toMatchObject({ name: "event.received", data: { source: { name: "Orders" } } })
  const own = await client.call("events/poll", { name: "source.orders", cursor: null })
  expect((await drained("source.orders", own.result.cursor)).events).toEqual([])
  const last = await send(orders, '{"n":2}')
  expect((await drained("source.orders", own.result.cursor)).events.map(({ eventId }) => eventId)).toEqual([last])
})

it("a stream gives the same events as polls, each with the position behind it", async () => {
  const { result: begun } = await client.call("events/poll", FROM_NOW)
  const stream = client.stream({ name: "event.received", cursor: begun.cursor })
  const first = (await stream.next()).value
  expect(first.json).toEqual({
    jsonrpc: "2.0",
    method: "notifications/events/active",
    params: {
      cursor: begun.cursor,
      truncated: false,
      _meta: { "io.modelcontextprotocol/subscriptionId": 7 },
    },
  })
  for (const n of [1, 2, 3, 4, 5]) await send(n % 2 === 0 ? orders : letters, `{\n"stream":${n}.${DIGITS}}`)
  const streamed: Array<any> = []
  while (streamed.length < 5) {
    const { json, text } = (await stream.next()).value
    if (json.method !== "notifications/events/event") continue
    expect(text).toContain(DIGITS)
    streamed.push(json.params)
  }
  await stream.return(undefined)
  const polled = await drained("event.received", begun.cursor)
  expect(streamed.map(({ eventId, name, timestamp, data }) => ({ eventId, name, timestamp, data }))).toEqual(
    polled.events,
  )
  // The position of the third event is that of a client that has three of them.
  expect((await drained("event.received", streamed[2].cursor)).events.map(({ eventId }) => eventId)).toEqual(
    streamed.slice(3).map(({ eventId }) => eventId),
  )
})

it("a position older than maxAgeMs begins later, and says so", async () => {
  const { result: begun } = await client.call("events/poll", FROM_NOW)
  await send(orders, '{"old":1}')
  await new Promise((resolve) => setTimeout(resolve, 20))
  const aged = { name: "event.received", cursor: begun.cursor, maxAgeMs: 0 }
  expect((await client.call("events/poll", aged)).result).toMatchObject({ events: [], truncated: true })
  const { value } = await client.stream(aged).next()
  expect(value.json.params.truncated).toBe(true)
  const whole = await client.call("events/poll", { ...aged, maxAgeMs: 60_000 })
  expect(whole.result).toMatchObject({ truncated: false, events: [{ data: { payload: { old: 1 } } }] })
})

it("a token with one source has that source's events alone, and a stream ends with its revocation", async () => {
  const granted = await cabinet.run(
    AccessTokens.use((tokens) =>
      tokens.issue({ name: "agent", role: "reader", only: ["sources.orders"], expiresInSeconds: null }),
    ),
  )
  const scoped = eventsClient(cabinet.base, granted.token)
  const { result } = await scoped.call("events/list")
  expect(result.events.map(({ name }: { name: string }) => name)).toEqual(["source.orders"])
  for (const name of ["event.received", "source.letters", "source.nothing"]) {
    const { error } = await scoped.call("events/poll", { name, cursor: null })
    expect(error).toMatchObject({ code: -32_023, data: { kind: "event" } })
    await expect(scoped.stream({ name }).next()).rejects.toThrow("-32023")
  }
  const stream = scoped.stream({ name: "source.orders" })
  expect((await stream.next()).value.json.method).toBe("notifications/events/active")
  await send(letters, '{"hidden":1}')
  const seen = await send(orders, '{"shown":1}')
  let event = (await stream.next()).value.json
  while (event.method !== "notifications/events/event") event = (await stream.next()).value.json
  expect(event.params.eventId).toBe(seen)
  await cabinet.run(AccessTokens.use((tokens) => tokens.revoke(granted.id)))
  await send(orders, '{"late":1}')
  const rest: Array<any> = []
  for await (const { json } of stream) rest.push(json)
  const said = rest.filter(({ method }) => method !== "notifications/events/heartbeat")
  expect(said).toMatchObject([
    { method: "notifications/events/terminated", params: { error: { code: -32_024 } } },
    { id: 7, result: { resultType: "complete" } },
  ])
})

it("wrong parameters are refused by name, and older revisions have no such methods", async () => {
  const wrong: ReadonlyArray<readonly [object, number, RegExp]> = [
    [{}, -32_602, /^name must/],
    [{ name: "source.orders", arguments: { total: 1 } }, -32_602, /no argument "total"/],
    [{ name: "source.orders", arguments: [] }, -32_602, /^arguments must/],
    [{ name: "source.orders", cursor: 1 }, -32_602, /^cursor must/],
    [{ name: "source.orders", cursor: "none" }, -32_602, /^cursor must/],
    [{ name: "source.orders", maxEvents: 0 }, -32_602, /^maxEvents must/],
    [{ name: "source.orders", maxAgeMs: -1 }, -32_602, /^maxAgeMs must/],
  ]
  for (const [params, code, words] of wrong) {
    const { status, error } = await client.call("events/poll", params)
    assert.deepEqual([status, error!.code], [200, code], JSON.stringify(params))
    assert.match(error!.message, words)
  }
  expect((await client.call("events/list", { cursor: "gone" })).error).toMatchObject({ code: -32_602 })
  const key = await cabinet.run(ApiKeys.use((keys) => keys.issue("old")))
  const older = await fetch(`${cabinet.base}/mcp`, {
    method: "POST",
    headers: { "x-api-key": key.key, "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"events/list"}',
  })
  expect(await older.json()).toMatchObject({ error: { code: -32_601 } })
})
