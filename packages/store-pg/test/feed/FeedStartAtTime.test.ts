/** Where the feed begins from a given time: nothing received then or later is skipped. */
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { FeedTailStore } from "@data-cabinet/core/feed/FeedTailStore"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { acceptOf } from "../../../../test/fault/openAccept.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { seeded } from "../../../../test/support/random.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const EVENTS = 3_000
const BEGIN = Date.parse("2026-03-01T00:00:00Z")
const STEP_MILLIS = 1_000

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
/** When each event was received, in the feed's order: up to half a minute later than its position implies. */
const received: Array<number> = []

beforeAll(async () => {
  store = testCabinet(database.url)
  const random = seeded(7)
  for (let n = 0; n < EVENTS; n++) received.push(BEGIN + n * STEP_MILLIS + random(30_000))
  await store.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`SELECT cabinet.check_epoch()`
      yield* sql`INSERT INTO cabinet.source (name, intake_secret, secret_hash)
        SELECT 'S' || n, n, sha256(n::text::bytea) FROM generate_series(1, 2) n`
      yield* sql`INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
        SELECT (SELECT max(epoch) FROM cabinet.epoch), 10 + n / 3, n, 1 + n % 2, to_timestamp(at::float8 / 1000),
               CASE WHEN n % 7 = 0 THEN 'pull' ELSE 'webhook' END, false, false, '{}'
        FROM json_array_elements_text(${JSON.stringify(received)}::json) WITH ORDINALITY AS e(at, n)`
      yield* sql`SELECT setval('cabinet.event_id', ${EVENTS})`
      yield* sql`DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint < 1100 LOOP COMMIT; END LOOP; END $$`
    }),
  )
})
afterAll(() => store.dispose())

const startAt = (millis: number, sourceId: number | null, channel: "webhook" | "pull" | null) =>
  store.runPromise(
    FeedTailStore.use((tail) => tail.start({ sourceId, channel }, { time: new Date(millis).toISOString() })),
  )

const firstBehind = async (after: FeedPosition, sourceId: number | null) => {
  const query = { after, limit: 1, sourceId, channel: null }
  const page = await store.runPromise(FeedStore.use((feed) => feed.page(query)))
  return page.items.texts().map((text) => (JSON.parse(text) as { id: number }).id)[0]
}

it.each([
  [null, null],
  [2, null],
  [null, "pull"],
  [1, "webhook"],
] as const)(
  "the feed of source %s and channel %s begins before the first event from then on",
  async (source, channel) => {
    const random = seeded(11)
    const ids = received
      .map((_, index) => index + 1)
      .filter((id) => source === null || 1 + (id % 2) === source)
      .filter((id) => channel === null || (id % 7 === 0 ? "pull" : "webhook") === channel)
    for (let n = 0; n < 60; n++) {
      const time = BEGIN + random(EVENTS * STEP_MILLIS)
      const wanted = ids.findIndex((id) => received[id - 1]! >= time)
      const place = await startAt(time, source, channel)
      assert.strictEqual(place.id, wanted === -1 ? ids.at(-1) : (ids[wanted - 1] ?? 0), new Date(time).toISOString())
    }
    assert.deepStrictEqual(await startAt(BEGIN - 1, source, channel), FEED_START)
    assert.strictEqual((await startAt(BEGIN + 2 * EVENTS * STEP_MILLIS, source, channel)).id, ids.at(-1))
  },
)

it("an event received after another but placed before it is not skipped", async () => {
  const accept = (sql: PgClient.PgClient, body: string) => {
    const { text, values } = acceptOf(1, body)
    return sql.unsafe(text, values)
  }
  const between = await store.runPromise(
    PgClient.PgClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          // Its position is assigned here, and so is its time of receipt.
          yield* sql`SELECT pg_current_xact_id()::text`
          yield* Effect.promise(() => store.runPromise(PgClient.PgClient.use((other) => accept(other, '{"second":1}'))))
          const [now] = yield* sql<{ at: number }>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at`
          yield* accept(sql, '{"first":1}')
          return now!.at
        }),
      ),
    ),
  )
  const place = await startAt(Math.ceil(between), null, null)
  assert.strictEqual(place.id, EVENTS)
  assert.strictEqual(await firstBehind(place, null), EVENTS + 2)
})
