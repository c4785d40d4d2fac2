/** The cost and contents of a page of the feed, over a feed that consists almost only of webhook events. */
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { WATERMARK } from "@data-cabinet/store-pg/feed/Fence"
import { FeedSessions } from "@data-cabinet/store-pg/connection/OwnerClient"
import { pageStatement } from "@data-cabinet/store-pg/feed/PageStatement"
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect, Latch, type ManagedRuntime } from "effect"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const EVENTS = 200_000

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
type Store = typeof store extends ManagedRuntime.ManagedRuntime<infer R, infer _> ? R : never
const run = <A, E>(effect: Effect.Effect<A, E, Store>) => store.runPromise(effect)

beforeAll(async () => {
  store = testCabinet(database.url)
  await run(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`SELECT cabinet.check_epoch()`
      yield* sql`INSERT INTO cabinet.source (name, intake_secret, secret_hash)
        SELECT 'S' || n, n, sha256(n::text::bytea) FROM generate_series(1, 3) n`
      // Source 1 has nearly all events, source 2 one in a thousand, source 3 none. The last ids belong to a file.
      yield* sql`INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
        SELECT (SELECT max(epoch) FROM cabinet.epoch), 1 + n / 100, n, CASE WHEN n % 1000 = 0 THEN 2 ELSE 1 END, now(),
               CASE WHEN n > ${EVENTS - 50} THEN 'file' WHEN n % 5000 = 1 THEN 'pull' ELSE 'webhook' END, false, false,
               json_build_object('n', n)
        FROM generate_series(1, ${EVENTS}::int) n`
      yield* sql`SELECT setval('cabinet.event_id', ${EVENTS})`
      // The transaction ids above are invented, so the counter has to pass them.
      yield* sql`DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint < 2100 LOOP COMMIT; END LOOP; END $$`
      yield* sql`ANALYZE cabinet.event`
    }),
  )
})
afterAll(() => store.dispose())

interface Plan {
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Relation Name"?: string
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<Plan>
}

/** The rows that a plan read from the table of events, including those it discarded. */
const eventRows = (plan: Plan): number =>
  (plan["Relation Name"] === "event"
    ? (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"]
    : 0) + (plan.Plans ?? []).reduce((sum, child) => sum + eventRows(child), 0)

const late: FeedPosition = { epoch: 0, xid: 1_990n, id: 0 }
const walks = [
  { sourceId: null, channel: null },
  { sourceId: null, channel: "webhook" },
  { sourceId: null, channel: "file" },
  { sourceId: null, channel: "pull" },
  { sourceId: 1, channel: null },
  { sourceId: 2, channel: null },
  { sourceId: 1, channel: "file" },
  { sourceId: 3, channel: null },
  { sourceId: null, sources: [2, 3], channel: null },
  { sourceId: null, sources: [1, 2], channel: "webhook" },
  { sourceId: null, sources: [], channel: null },
] as const

it.each(["force_custom_plan", "force_generic_plan"])(
  "pageStatement reads at most a small multiple of its limit, early and late in the feed, for any filter (%s)",
  async (mode) => {
    const limit = 100
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* (yield* PgClient.PgClient).reserve
          const execute = (text: string, values: ReadonlyArray<unknown> = []) =>
            connection.execute(text, values, undefined)
          yield* execute(`SET plan_cache_mode = ${mode}`)
          const [fence] = (yield* execute(WATERMARK, [0, 0, 0, 0])) as ReadonlyArray<{ epoch: string; bound: string }>
          for (const walk of walks) {
            const starts = [FEED_START, { ...late, epoch: Number(fence!.epoch) }]
            for (const [after, optimistic] of starts.flatMap((start) => [
              [start, true] as const,
              [start, false] as const,
            ])) {
              const { text, values } = pageStatement({ ...walk, after, limit }, fence!.epoch, fence!.bound, optimistic)
              yield* execute(`PREPARE page AS ${text}`)
              const [answer] = yield* execute(
                `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page (${values.map((value) => `'${value}'`).join(", ")})`,
              )
              yield* execute("DEALLOCATE page")
              const plan = Object.values(answer as object)[0] as ReadonlyArray<{ Plan: Plan }>
              const rows = eventRows(plan[0]!.Plan)
              assert.isAtMost(rows, 5 * (limit + 1), `${JSON.stringify(walk)} after ${after.xid}`)
            }
          }
          yield* execute("RESET plan_cache_mode")
        }),
      ),
    )
  },
)

/** Every id of a walk, in the order of the pages. */
const walkAll = (walk: (typeof walks)[number], limit: number) =>
  Effect.gen(function* () {
    const feed = yield* FeedStore
    const ids: Array<number> = []
    let after = FEED_START
    for (;;) {
      const page = yield* feed.page({ ...walk, after, limit })
      ids.push(...page.items.texts().map((item) => (JSON.parse(item) as { id: number }).id))
      after = page.next
      if (!page.hasMore) return ids
    }
  })

it("FeedStore.page walks every filter to its end, each event once and in order", async () => {
  for (const walk of walks.filter(
    ({ sourceId, channel }) => sourceId === 2 || (channel !== null && channel !== "webhook"),
  )) {
    const ids = await run(walkAll(walk, 17))
    const expected = await database.run(
      `SELECT id::int4 AS id FROM cabinet.event e WHERE ${walk.sourceId === null ? true : `source_id = ${walk.sourceId}`}
         AND ${walk.channel === null ? true : `channel = '${walk.channel}'`} ORDER BY e.epoch, e.xid, e.id`,
    )
    assert.deepStrictEqual(
      ids,
      expected.map((row) => row["id"]),
    )
  }
})

it("FeedStore.page returns long pages complete, even while others are read", async () => {
  const page = (xid: bigint) =>
    FeedStore.use((feed) =>
      feed.page({ sourceId: null, channel: "webhook", after: { epoch: 1, xid, id: 0 }, limit: 1000 }),
    )
  const pages = await run(Effect.all([page(10n), page(700n), page(1_400n)], { concurrency: "unbounded" }))
  for (const { items } of pages) {
    const events = items.texts().map((item) => JSON.parse(item) as { id: number; payload: unknown })
    assert.lengthOf(events, 1000)
    for (const { id, payload } of events) assert.deepStrictEqual(payload, { n: id })
  }
})

it("FeedStore.page writes exactly the text of a delivery, for an event in any state", async () => {
  for (const change of [
    `cabinet.source SET name = E'A "name"\\n' WHERE id = 2`,
    `cabinet.event SET deleted_at = '2026-11-22 01:02:03.45Z' WHERE id = 1000`,
    `cabinet.event SET verified = id % 2 = 0 WHERE source_id = 2 AND id % 3 = 0`,
    `cabinet.event SET spam = 'origin' WHERE source_id = 2 AND id % 2 = 0`,
    `cabinet.event SET repeat_of = 1000, received_at = '2026-11-22 01:02:03Z' WHERE id = 2000`,
    `cabinet.event SET history = true, payload = '{"a" : 1.0,"b":["я"]}' WHERE id = 3000`,
  ]) {
    await database.run(`UPDATE ${change}`)
  }
  for (const [walk, filter] of [
    [{ sourceId: 2, channel: null }, "s.id = 2"],
    [{ sourceId: null, channel: "file" }, "e.channel = 'file'"],
    [{ sourceId: null, channel: "pull" }, "e.channel = 'pull'"],
  ] as const) {
    const { items } = await run(FeedStore.use((feed) => feed.page({ ...walk, after: FEED_START, limit: 100 })))
    const delivered = await database.run(`SELECT cabinet.event_json(e, s.name) AS event
      FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id WHERE ${filter}
      ORDER BY e.epoch, e.xid, e.id LIMIT 100`)
    assert.deepStrictEqual(
      items.texts(),
      delivered.map((row) => String(row["event"])),
    )
  }
})

it("FeedStore.page says has_more exactly when there is more", async () => {
  const file = { sourceId: null, channel: "file" } as const
  const page = (limit: number) => run(FeedStore.use((feed) => feed.page({ ...file, after: FEED_START, limit })))
  assert.deepStrictEqual(
    [(await page(49)).hasMore, (await page(50)).hasMore, (await page(51)).hasMore],
    [true, false, false],
  )
  const longest = { sourceId: null, channel: "webhook", after: FEED_START, limit: 1000 } as const
  assert.isTrue((await run(FeedStore.use((feed) => feed.page(longest)))).hasMore)
})

it("FeedStore.page ends early when its payloads exceed 8 MB, which is not the end of the feed", async () => {
  await database.run(
    `INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
     SELECT (SELECT max(epoch) FROM cabinet.epoch), 1, ${EVENTS} + n, 3, now(), 'webhook', false, false,
            json_build_object('n', n, 'x', repeat('x', 3000000))
     FROM generate_series(1, 7) n`,
  )
  const program = Effect.gen(function* () {
    const feed = yield* FeedStore
    const sizes: Array<readonly [number, boolean]> = []
    let after = FEED_START
    for (;;) {
      const page = yield* feed.page({ sourceId: 3, channel: null, after, limit: 1000 })
      sizes.push([page.items.length, page.hasMore])
      after = page.next
      if (!page.hasMore) return sizes
    }
  })
  assert.deepStrictEqual(await run(program), [
    [3, true],
    [3, true],
    [1, false],
  ])
})

it("FeedSessions lends four sessions at once, so that pages do not wait for each other's statements", async () => {
  const program = Effect.gen(function* () {
    const sessions = yield* FeedSessions
    const allLent = yield* Latch.make(false)
    let lent = 0
    const page = sessions.use(() => (++lent === 4 ? allLent.open : allLent.await))
    // With fewer sessions this would wait for ever.
    yield* Effect.timeoutOption(Effect.all([page, page, page, page], { concurrency: 4 }), "20 seconds")
    return lent
  })
  assert.strictEqual(await run(program), 4)
})
