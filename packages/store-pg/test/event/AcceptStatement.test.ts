/**
 * The forms of the accept statement for batches of single events and of different bodies have the same result as the general
 * one.
 */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { type AcceptedRow, acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import type { BodyLockMode } from "@data-cabinet/store-pg/event/AcceptRepeats"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>

beforeAll(async () => {
  store = testCabinet(database.url)
  await store.runPromise(PgClient.PgClient.use((sql) => sql`SELECT cabinet.check_epoch()`))
})
afterAll(() => store.dispose())

const original = originalRequest("body")

const request = (sourceId: number, ...orders: ReadonlyArray<string>): AcceptRequest => ({
  sourceId,
  sourceVersion: 1,
  channel: "webhook",
  history: false,
  events: orders.map((order) => fingerprintedEvent(new Map([["order", order]]))),
  original,
})

const planned = (...requests: ReadonlyArray<AcceptRequest>) =>
  planBatch(requests, () => ({ table: undefined, waits: false }), bodyKeys("00".repeat(32)))

type Forms = Partial<Pick<ReturnType<typeof planned>, "distinct" | "single">>

const newSource = async () => (await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id

/**
 * The outcome for each event, with ids counted from the first: which event it repeats, and which original belongs to
 * it.
 */
const accepted = async (
  requests: ReadonlyArray<AcceptRequest>,
  forms: Forms = {},
  bodyLocks: BodyLockMode = "wait",
) => {
  const { text, values } = acceptStatement({ ...planned(...requests), ...forms }, bodyLocks)
  const rows = (await store.runPromise(
    PgClient.PgClient.use((sql) =>
      Effect.scoped(Effect.flatMap(sql.reserve, (c) => c.execute(text, values, undefined))),
    ),
  )) as ReadonlyArray<AcceptedRow>
  return rows.map(({ id, repeat_of }) => [Number(id), repeat_of === null ? null : Number(repeat_of)] as const)
}

const originalsOf = (sourceId: number) =>
  database.run(
    `SELECT e.original_request_id::int8 = e.id AS own, o.id IS NOT NULL AS kept FROM cabinet.event e
     LEFT JOIN cabinet.original_request o ON o.id = e.original_request_id WHERE e.source_id = ${sourceId} ORDER BY e.id`,
  )

it("acceptStatement omits filters from a batch without them, whatever the others need", () => {
  const filtered = { addresses: [1, 2], passed: [[2]] }
  const { text, values } = acceptStatement(planned(request(1, "a")))
  assert.notInclude(text, "filters")
  const other = acceptStatement(planned(request(1, "a"), { ...request(2, "b"), filtered }, request(3, "c")))
  assert.include(other.text, "a.filters IS NOT NULL")
  assert.strictEqual(other.values.length, values.length + 2)
})

it("acceptStatement stores the kept parts of each request with its own original", async () => {
  const sourceId = await newSource()
  const kept = {
    headers: [
      { name: "x-topic", value: 'a "quoted" я' },
      { name: "x-id", value: "" },
    ],
    query: "a=%20",
  }
  await accepted([
    request(sourceId, "kept 1"),
    { ...request(sourceId, "kept 2", "kept 3"), original: { ...original, kept } },
    request(sourceId, "kept 4"),
    { ...request(sourceId, "kept 5"), original: { ...original, kept: { headers: [], query: "" } } },
    { ...request(sourceId, "kept 6"), original: { ...original, kept: { headers: [], query: null } } },
  ])
  const found = await database.run(
    `SELECT headers, query FROM cabinet.original_request WHERE source_id = ${sourceId} ORDER BY id`,
  )
  assert.deepStrictEqual(found, [
    { headers: null, query: null },
    { headers: { "x-topic": 'a "quoted" я', "x-id": "" }, query: "a=%20" },
    { headers: null, query: null },
    { headers: null, query: "" },
    { headers: null, query: null },
  ])
})

it("planBatch chooses the form of the statement", () => {
  const forms = (...requests: ReadonlyArray<AcceptRequest>) => {
    const { distinct, single } = planned(...requests)
    return { distinct, single }
  }
  assert.deepStrictEqual(forms(request(1, "a"), request(1, "b"), request(2, "a")), { distinct: true, single: true })
  assert.deepStrictEqual(forms(request(1, "a"), request(1, "a")), { distinct: false, single: true })
  assert.deepStrictEqual(forms(request(1, "a", "b")), { distinct: true, single: false })
  assert.deepStrictEqual(forms({ ...request(1, "a"), original: null }), { distinct: true, single: false })
  assert.deepStrictEqual(forms({ ...request(1, "a"), events: [] }), { distinct: true, single: false })
})

it("every form of the statement finds an earlier first event, and stores an original for each event", async () => {
  const forms = [true, false].flatMap((distinct) => [true, false].map((single) => ({ distinct, single })))
  for (const form of forms) {
    for (const bodyLocks of ["wait", "try"] as const) {
      const id = await newSource()
      const [[first]] = (await accepted([request(id, "a")])) as [readonly [number, null]]
      const batch = ["b", "a", "c"].map((order) => request(id, order))
      const rows = await accepted(batch, form, bodyLocks)
      const told = JSON.stringify({ ...form, bodyLocks })
      assert.deepStrictEqual(
        rows.map(([, repeatOf]) => repeatOf),
        [null, first, null],
        told,
      )
      assert.deepStrictEqual(
        await originalsOf(id),
        Array.from({ length: 4 }, () => ({ own: true, kept: true })),
        told,
      )
    }
  }
})

it("a batch with equal bodies and lists has one first event, and one original per request", async () => {
  const id = await newSource()
  const rows = await accepted([request(id, "a", "b"), request(id, "b"), request(id, "a")])
  const [[a], [b]] = rows as [readonly [number, null], readonly [number, null]]
  assert.deepStrictEqual(
    rows.map(([, repeatOf]) => repeatOf),
    [null, null, b, a],
  )
  assert.deepStrictEqual(
    (await originalsOf(id)).map(({ own }) => own),
    [true, false, true, true],
  )
  await accepted([{ ...request(id, "c"), original: null }])
  assert.deepStrictEqual((await originalsOf(id)).at(-1), { own: null, kept: false })
})

it("with try-locks, an event whose lock is taken is neither repeat nor first, and the rest of its batch is unaffected", async () => {
  const id = await newSource()
  const [[first]] = (await accepted([request(id, "held"), request(id, "free")])) as [readonly [number, null]]
  const batch = planned(request(id, "held"))
  await store.runPromise(
    PgClient.PgClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`SELECT pg_advisory_xact_lock(${batch.locks[0]})`)
          const unprinted = { ...request(id, "x"), events: [{ ...request(id, "x").events[0]!, fingerprint: null }] }
          const rows = yield* Effect.promise(() =>
            accepted([unprinted, ...["free", "held", "new", "new"].map((order) => request(id, order))], {}, "try"),
          )
          assert.deepStrictEqual(
            rows.map(([, repeatOf]) => repeatOf),
            [null, first + 1, null, null, rows[3]![0]],
          )
        }),
      ),
    ),
  )
  const rows = await accepted([request(id, "held")], {}, "try")
  assert.strictEqual(rows[0]![1], first)
})

it("acceptStatement writes deliveries unless all of its events are history", () => {
  const writes = (...history: ReadonlyArray<boolean>) => {
    const requests = history.map((one) => ({ ...request(1, "one"), history: one }))
    return acceptStatement(planned(...requests)).text.includes("cabinet.delivery")
  }
  assert.deepStrictEqual([writes(true, true), writes(true, false), writes(false)], [false, true, true])
})
