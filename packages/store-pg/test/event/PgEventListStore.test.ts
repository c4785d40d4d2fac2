import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { EventBrowser, type EventQuery, listedEventText } from "@data-cabinet/core/event/EventBrowser"
import { appendEvents, type Channel, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { markedAgain } from "@data-cabinet/core/schema/MarkEvents"
import { compileSchema } from "@data-cabinet/core/schema/OwnSchema"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Result } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import type { CabinetServices } from "../../../cli/src/compose/CabinetLayer.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
beforeAll(() => {
  cabinet = testCabinet(database.url)
})
afterAll(() => cabinet.dispose())

const run = <A, E>(effect: Effect.Effect<A, E, CabinetServices>) => cabinet.runPromise(effect)

const makeSource = async (name: string) => (await run(Sources.use((all) => all.create({ name })))).id

const accept = async (
  sourceId: number,
  fields: Record<string, string> | JsonObject,
  channel: Channel = "webhook",
  history = false,
) => {
  const [receipt] = await run(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion: 1,
        channel,
        history,
        events: [fingerprintedEvent(fields instanceof Map ? fields : new Map(Object.entries(fields)))],
        original: channel === "webhook" ? originalRequest("body") : null,
      }),
    ),
  )
  return receipt!.id
}

interface Listed {
  readonly id: number
  readonly state: string
  readonly trashed_by: { readonly name: string } | null
}
const pageOf = (query: EventQuery) => run(EventBrowser.use((browser) => browser.page(query)))
const list = async (query: Partial<EventQuery>): Promise<ReadonlyArray<Listed>> =>
  (await pageOf({ limit: 100, ...query })).items.map((item) => JSON.parse(listedEventText(item)) as Listed)
const ids = async (query: Partial<EventQuery>) => (await list(query)).map(({ id }) => id)
const refused = (query: Partial<EventQuery>) =>
  run(
    Effect.match(
      EventBrowser.use((browser) => browser.page({ limit: 1, ...query })),
      { onFailure: (error) => ("code" in error ? error.code : "away"), onSuccess: () => "taken" },
    ),
  )

it("EventBrowser lists the newest first over all channels, and its pages omit nothing", async () => {
  const one = await makeSource("Paged")
  const other = await makeSource("Beside")
  const made: Array<number> = []
  for (let n = 0; n < 9; n++) {
    made.unshift(await accept(one, { n: String(n) }, (["webhook", "file", "pull"] as const)[n % 3]!))
    await accept(other, { n: String(n) })
  }
  assert.deepStrictEqual(await ids({ sourceId: one }), made)
  assert.deepStrictEqual(
    await ids({ sourceId: one, channel: "file" }),
    made.filter((_, at) => (8 - at) % 3 === 1),
  )
  const walked: Array<number> = []
  let cursor: string | undefined
  do {
    const { items, nextCursor, searchedTo } = await pageOf({ limit: 2, sourceId: one, cursor })
    const last = JSON.parse(items.at(-1)!.event) as { readonly received_at: string }
    assert.strictEqual(searchedTo, nextCursor === null ? null : last.received_at)
    walked.push(...items.map(({ event }) => (JSON.parse(event) as Listed).id))
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  assert.deepStrictEqual(walked, made)
  assert.strictEqual((await ids({})).length, 18)
})

it("EventBrowser finds the events that do not follow their source's own schema, whatever else is in them", async () => {
  const source = await makeSource("Judged")
  const schema = Result.getOrThrow(compileSchema('{"propertyNames":{"maxLength":60},"required":["n"]}'))
  const judged = (payload: JsonObject) => accept(source, markedAgain(schema, payload))
  const of = (text: string) => ownJson(text) as JsonObject
  const marks = '"_valid":false,"_schema_error":"x"'
  const invalid = [
    await judged(of("{}")),
    await judged(of('{"text":"\\u0000"}')),
    await judged(of('{"_valid":true,"_schema_error":"of the sender","m":1}')),
    await judged(of(`{"n":1,"${String.raw`\"\\\u0001}`.repeat(90)}":null}`)),
  ]
  for (const text of [`{"n":{${marks}}}`, `{"n":[{${marks}}]}`, `{${marks},"n":1}`, '{"n":"\\u0000"}']) {
    await judged(of(text))
  }
  await judged(of(JSON.stringify({ n: `{${marks}}` })))
  assert.deepStrictEqual(await ids({ sourceId: source, state: "invalid" }), invalid.toReversed())
})

it("EventBrowser filters by state, by number and by text as sent", async () => {
  const source = await makeSource("Filtered")
  const first = await accept(source, { name: "Иван 100%" })
  const repeat = await accept(source, { name: "Иван 100%" })
  const empty = await accept(source, { name: "" })
  const past = await accept(source, { name: "Ada_x" }, "file", true)
  const of = (query: Partial<EventQuery>) => ids({ sourceId: source, ...query })
  assert.deepStrictEqual(await of({ state: "row" }), [past, empty, first])
  assert.deepStrictEqual(await of({ state: "repeat" }), [repeat])
  assert.deepStrictEqual(await of({ state: "empty" }), [empty])
  assert.deepStrictEqual(await of({ state: "history" }), [past])
  assert.deepStrictEqual(await of({ event: first }), [first])
  assert.deepStrictEqual(await ids({ event: first, state: "repeat" }), [])
  assert.deepStrictEqual(await of({ text: "ИВАН" }), [repeat, first])
  assert.deepStrictEqual(await of({ text: '100%"' }), [repeat, first])
  // Wildcards of LIKE are ordinary characters.
  assert.deepStrictEqual(await of({ text: "Ad%x" }), [])
  assert.deepStrictEqual(await of({ text: "ada_x" }), [past])
  assert.deepStrictEqual(await of({ text: "'; DROP TABLE cabinet.event --" }), [])
})

it("EventBrowser finds text that was sent with escapes", async () => {
  const source = await makeSource("Escaped")
  const id = await accept(source, { name: "x" })
  await database.run(`UPDATE cabinet.event SET payload = '{"name":"\\u0418\\u0432\\u0430\\u043d"}' WHERE id = ${id}`)
  assert.deepStrictEqual(await ids({ sourceId: source, text: "Иван" }), [id])
})

it("EventBrowser finds composed and decomposed letters by either form", async () => {
  const source = await makeSource("Composed")
  const composed = await accept(source, { name: "Йошкар-Ола".normalize("NFC") })
  const decomposed = await accept(source, { name: "Йошкар-Ола!".normalize("NFD") })
  const escaped = await accept(source, { name: "x" })
  await database.run(`UPDATE cabinet.event SET payload = '{"name":"\\u0439o"}' WHERE id = ${escaped}`)
  for (const form of ["NFC", "NFD"] as const) {
    assert.deepStrictEqual(await ids({ sourceId: source, text: "йошкар".normalize(form) }), [decomposed, composed])
    assert.deepStrictEqual(await ids({ sourceId: source, text: "йo".normalize(form) }), [escaped])
  }
})

it("EventBrowser lists a period without scanning to it, and the trash with its actors", async () => {
  const source = await makeSource("Timed")
  const made: Array<number> = []
  for (let day = 0; day < 5; day++) {
    await database.run(`UPDATE cabinet.clock SET shift = make_interval(days => ${day})`)
    made.push(await accept(source, { day: String(day) }))
  }
  const at = async (id: number) =>
    String(
      (await database.run(`SELECT cabinet.rfc3339(received_at) AS at FROM cabinet.event WHERE id = ${id}`))[0]!["at"],
    )
  const [from, to] = [await at(made[1]!), await at(made[3]!)]
  assert.deepStrictEqual(await ids({ sourceId: source, from, to }), [made[2], made[1]])
  assert.deepStrictEqual(await ids({ from, to }), [made[2], made[1]])
  assert.deepStrictEqual(await ids({ sourceId: source, from: to }), [made[4], made[3]])
  assert.deepStrictEqual(await ids({ sourceId: source, to: from }), [made[0]])
  assert.deepStrictEqual(await ids({ from: "2001-01-01T00:00:00Z", to: "2002-01-01T00:00:00Z" }), [])
  const since = await database.run(`SELECT cabinet.first_event_since('${from}')::int AS id`)
  assert.strictEqual(since[0]!["id"], made[1])

  const ada = { kind: "token", id: 7, name: "Ada", role: "editor", from: null, requestId: null } as const
  const trash = (events: ReadonlyArray<number>) => run(Trash.use((port) => port.trash(source, events)))
  await run(
    Effect.provideService(
      Trash.use((port) => port.trash(source, [made[3]!])),
      CurrentActor,
      ada,
    ),
  )
  await trash([made[0]!])
  const trashed = await list({ state: "trashed", sourceId: source })
  assert.deepStrictEqual(
    trashed.map(({ id, trashed_by, state }) => [id, trashed_by?.name, state]),
    [
      [made[0], undefined, "trashed"],
      [made[3], "Ada", "trashed"],
    ],
  )
  const { nextCursor } = await pageOf({ limit: 1, state: "trashed" })
  assert.deepStrictEqual(await ids({ limit: 1, state: "trashed", cursor: nextCursor! }), [made[3]])
  await run(Trash.use((port) => port.untrash(source, [made[3]!])))
  await run(Trash.use((port) => port.purge([made[0]!])))
  assert.deepStrictEqual(await ids({ state: "trashed" }), [])
  assert.deepStrictEqual(await ids({ state: "purged" }), [made[0]])
  await trash([made[3]!])
  assert.deepStrictEqual(
    (await list({ state: "trashed" })).map(({ trashed_by }) => trashed_by),
    [null],
  )
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})

it("EventBrowser refuses unknown sources, invalid times and cursors of other lists", async () => {
  const source = await makeSource("Refusing")
  await accept(source, { a: "1" })
  await accept(source, { a: "2" })
  const { nextCursor } = await pageOf({ limit: 1, sourceId: source })
  assert.isString(nextCursor)
  assert.strictEqual(await refused({ cursor: nextCursor! }), "bad_cursor")
  assert.strictEqual(await refused({ sourceId: source, cursor: `${nextCursor}x` }), "bad_cursor")
  assert.strictEqual(await refused({ sourceId: 999_999 }), "no_such_source")
  assert.strictEqual(await refused({ from: "yesterday" }), "bad_period")
  assert.strictEqual(await refused({ to: "2026-02-30T00:00:00Z" }), "bad_period")
})

it("EventBrowser counts deliveries in order by the position of their address, unless a filter decides about them", async () => {
  const sourceId = await makeSource("In order")
  const add = (path: string, settings: object) =>
    run(
      Addresses.use((all) =>
        all.create({ url: `https://1.1.1.1/${path}`, sources: [sourceId], order: "feed", ...settings }),
      ),
    )
  await add("all", {})
  await add("filtered", { filters: [{ fc: "n", fo: "eq", fv: "1" }] })
  const events: Array<number> = []
  for (const n of ["1", "2", "3"]) events.push(await accept(sourceId, { n }))
  const counts = async () => (await pageOf({ limit: 3, sourceId })).items.map(({ deliveries }) => deliveries)
  const due = { due: 1, delivered: 0, failed: 0, cancelled: 0 }
  const delivered = { ...due, due: 0, delivered: 1 }
  assert.deepStrictEqual(await counts(), [due, due, due])
  await database.run(`
    UPDATE cabinet.follower f SET epoch = e.epoch, xid = e.xid, event_id = e.id
    FROM cabinet.event e, cabinet.ordered_delivery o WHERE e.id = ${events[1]} AND o.follower_id = f.id`)
  assert.deepStrictEqual(await counts(), [due, delivered, delivered])
  await database.run(`
    INSERT INTO cabinet.delivery (address_id, event_id, state, created_at, due_at)
    SELECT min(address_id), ${events[0]}, 'cancelled', now(), now() FROM cabinet.ordered_delivery`)
  assert.deepStrictEqual((await counts())[2], { ...due, due: 0, cancelled: 1 })
})
