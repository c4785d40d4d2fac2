/** Faults of the program while rows are planned: each affects only its own event, wherever the event comes from. */
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { appendEvents, type AcceptRequest, EventLog, type NewEvent } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import type { Json } from "@data-cabinet/core/json/Json"
import { Trash } from "@data-cabinet/core/event/Trash"
import { parseSubmission } from "@data-cabinet/core/intake/ParseSubmission"
import { Sources } from "@data-cabinet/core/source/Sources"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect, Exit } from "effect"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const open = (url: string) => testCabinet(url)
const database = withDatabase()
let store: ReturnType<typeof open>
beforeAll(() => {
  store = open(database.url)
})
afterAll(() => store.dispose())

const newSource = (name: string) => store.runPromise(Sources.use((sources) => sources.create({ name })))
const request = (sourceId: number, events: ReadonlyArray<NewEvent>): AcceptRequest => ({
  sourceId,
  sourceVersion: 1,
  channel: "webhook",
  history: false,
  events,
  original: originalRequest("the body"),
})
const honest = (value: string) => fingerprintedEvent(new Map<string, Json>([["a", value]]))

/** An event whose fields cannot be enumerated when its row is planned, after it was printed. */
const unplannable = (value: string): NewEvent => {
  const event = honest(value)
  const payload = new Map(event.payload)
  payload[Symbol.iterator] = () => {
    throw new RangeError("a planted fault")
  }
  return { ...event, payload }
}

/** An event that makes the construction of the whole statement throw. */
const unwritable = (value: string): NewEvent => ({
  ...honest(value),
  get text(): string {
    throw new RangeError("a planted fault")
  },
})

/** All at once, so that they share batches, in any order. */
const appendAll = (requests: ReadonlyArray<AcceptRequest>) =>
  store.runPromise(
    Effect.forEach(requests, (one) => Effect.exit(EventLog.use((log) => appendEvents(log, one))), {
      concurrency: "unbounded",
    }),
  )
const rowsOf = async (table: string) =>
  (await database.run(`SELECT a FROM sources.${table} ORDER BY a`)).map((row) => row["a"])
const UNTIL = { timeout: 100_000, interval: 100 }

const drain = () => store.runPromise(drainDeferredRows)
const examine = () => store.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))

it("append accepts an event whose list has more items than a function call may have arguments", async () => {
  const source = await newSource("Long lists")
  const body = Buffer.from(`{"a":"x","list":[${"1,".repeat(140_000)}1],"object":{"of":[${"{},".repeat(1_000)}{}]}}`)
  const { events } = parseSubmission({ body, contentType: "application/json", query: "", encoding: null })
  const exits = await appendAll([
    request(source.id, [honest("1")]),
    ...events.map((event) => request(source.id, [event])),
    request(source.id, [honest("2")]),
  ])
  assert.isTrue(exits.every(Exit.isSuccess))
  await drain()
  assert.deepStrictEqual(await rowsOf("long_lists"), ["1", "2", "x"])
  assert.deepStrictEqual(
    await database.run(`SELECT jsonb_array_length(list) AS items FROM sources.long_lists WHERE list IS NOT NULL`),
    [{ items: 140_001 }],
  )
  assert.strictEqual((await examine()).rowsSetAside.count, 0)
})

it("append defers a row that cannot be planned, and writes the others of its batch", async () => {
  const source = await newSource("Planner")
  const other = await newSource("Other")
  const exits = await appendAll([
    request(source.id, [honest("1")]),
    request(source.id, [honest("2"), unplannable("3"), honest("4")]),
    request(other.id, [honest("1")]),
  ])
  assert.isTrue(exits.every(Exit.isSuccess))
  assert.deepStrictEqual(await rowsOf("other"), ["1"])
  // A row in a later batch waits behind the deferred one.
  assert.includeMembers(await rowsOf("planner"), ["2", "4"])
  // Read back from the database, it is an ordinary event.
  await vi.waitUntil(async () => (await drain(), (await rowsOf("planner")).length === 4), UNTIL)
  assert.isTrue((await appendAll([request(source.id, [unplannable("5")])])).every(Exit.isSuccess))
  assert.isTrue((await appendAll([request(source.id, [honest("6")])])).every(Exit.isSuccess))
  await vi.waitUntil(async () => (await drain(), (await rowsOf("planner")).length === 6), UNTIL)
  assert.deepStrictEqual(await rowsOf("planner"), ["1", "2", "3", "4", "5", "6"])
})

it("append fails only the request whose event causes a fault", async () => {
  const source = await newSource("Statement")
  const exits = await appendAll([
    request(source.id, [honest("1")]),
    request(source.id, [honest("2")]),
    request(source.id, [honest("never"), unwritable("3")]),
    request(source.id, [honest("4")]),
  ])
  assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, false, true])
  await drain()
  assert.deepStrictEqual(await rowsOf("statement"), ["1", "2", "4"])
  assert.deepStrictEqual(
    await database.run(`SELECT count(*)::int AS events FROM cabinet.event WHERE source_id = ${source.id}`),
    [{ events: 3 }],
  )
})

it("restore sets aside a row that cannot be planned and restores the others; a later start retries it", async () => {
  const source = await newSource("Untrashed")
  const exits = await appendAll([1, 2, 3].map((n) => request(source.id, [honest(`${n}`)])))
  const ids = exits.map((exit) => (Exit.isSuccess(exit) ? exit.value[0]!.id : -1))
  // Deeper than this program can read; it never writes anything this deep.
  await database.run(
    `UPDATE cabinet.event SET payload = ('{"a":' || repeat('[', 700) || repeat(']', 700) || '}')::json WHERE id = ${ids[1]}`,
  )
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.trash(source.id, ids))), 3)
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.untrash(source.id, ids))), 3)
  await vi.waitUntil(async () => (await drain(), (await rowsOf("untrashed")).length === 2), UNTIL)
  assert.deepStrictEqual(await rowsOf("untrashed"), ["1", "3"])
  const { rowsSetAside, deferredRows } = await examine()
  assert.strictEqual(deferredRows, 0)
  assert.strictEqual(rowsSetAside.count, 1)
  assert.deepInclude(rowsSetAside.first[0], { eventId: ids[1]!, sourceId: source.id })
  assert.match(rowsSetAside.first[0]!.reason, /deeper than/)
  // Nothing waits behind it.
  assert.isTrue((await appendAll([request(source.id, [honest("4")])])).every(Exit.isSuccess))
  assert.deepStrictEqual(await rowsOf("untrashed"), ["1", "3", "4"])

  await database.run(`UPDATE cabinet.event SET payload = '{"a":"2"}' WHERE id = ${ids[1]}`)
  const later = open(database.url)
  await later.runPromise(Effect.void)
  await vi.waitUntil(async () => (await rowsOf("untrashed")).length === 4, UNTIL)
  await later.dispose()
  assert.deepStrictEqual(await rowsOf("untrashed"), ["1", "2", "3", "4"])
  assert.strictEqual((await examine()).rowsSetAside.count, 0)
})

it("append accepts events of a source whose rows cannot be written, and writes the rows of all others", async () => {
  const broken = await newSource("Broken")
  const whole = await newSource("Whole")
  await appendAll([request(broken.id, [honest("1")])])
  // A column whose name PostgreSQL cannot hold: every statement about the table ends with a fault.
  await database.run(
    `INSERT INTO cabinet.field_column (source_id, position, field, name, type) VALUES (${broken.id}, 9, 'x', repeat('x', 80), 'text')`,
  )
  const exits = await appendAll([
    request(whole.id, [honest("1")]),
    request(broken.id, [honest("2")]),
    request(whole.id, [honest("2")]),
    // A new field, so that the table is read again.
    request(broken.id, [fingerprintedEvent(new Map([["b", "3"]])), honest("4")]),
    request(whole.id, [honest("3")]),
  ])
  assert.isTrue(exits.every(Exit.isSuccess))
  assert.deepStrictEqual(await rowsOf("whole"), ["1", "2", "3"])
  const id = await vi.waitUntil(async () => {
    await drain()
    const { rowsSetAside, deferredRows } = await examine()
    return deferredRows === 0 && rowsSetAside.count > 0 && rowsSetAside.first[0]!.eventId
  }, UNTIL)
  assert.isNumber(id)
  await database.run(`DELETE FROM cabinet.field_column WHERE source_id = ${broken.id} AND position = 9`)
  const later = open(database.url)
  await later.runPromise(Effect.void)
  await vi.waitUntil(async () => (await rowsOf("broken")).length === 4, UNTIL)
  await later.dispose()
  assert.deepStrictEqual(await rowsOf("broken"), ["1", "2", "4", null])
})
