/** An accept whose last bytes never arrive: what PostgreSQL does by itself, and what a cabinet does. */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { IN_FENCE } from "@data-cabinet/store-pg/feed/Fence"
import { stalledHolders } from "@data-cabinet/store-pg/feed/StalledHolders"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { postgresMajor, withDatabase } from "../../../../test/support/postgres.ts"
import { rawSession } from "../../../../test/support/rawSession.ts"
import { boundTransactions } from "@data-cabinet/store-pg/event/OpenWriter"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

/** How an accept begins: the fence, then a transaction id. */
const BEGUN = `WITH fence AS MATERIALIZED (${IN_FENCE}) SELECT pg_current_xact_id()::text, count(*) FROM fence`

const accepted = async () => {
  const source = await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))
  await store.runPromise(EventLog.use((log) => appendEvents(log, requestOf(source.id, "behind it", false))))
  const page = FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 10, sourceId: source.id, channel: null }))
  return async () => (await store.runPromise(page)).items.length
}

const isThere = async (pid: number) =>
  (await database.run(`SELECT FROM pg_stat_activity WHERE pid = ${pid}`)).length === 1

/** Waits until the session waits for its client. */
const untilWaiting = async (pid: number) => {
  while (
    (await database.run(`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'ClientRead'`)).length === 0
  );
}

it("an accept whose Sync never arrives is terminated at the second check, and the feed continues", async () => {
  const shown = await accepted()
  const lost = await rawSession(database)
  await lost.executeWithoutSync(BEGUN)
  const look = stalledHolders()
  await accepted()
  const behind = await accepted()
  await untilWaiting(lost.pid)
  await store.runPromise(look)
  assert.isTrue(await isThere(lost.pid))
  assert.strictEqual(await behind(), 0)
  await store.runPromise(look)
  await lost.closed
  while (await isThere(lost.pid));
  assert.strictEqual(await behind(), 1)
  assert.strictEqual(await shown(), 1)
})

it("an accept that is running is left alone, however often it is checked", async () => {
  const look = stalledHolders()
  const busy = await rawSession(database)
  const working = busy.executeWithoutSync(BEGUN.replace("count(*)", "count(*), pg_sleep(600)")).catch(() => undefined)
  const isAtWork = async () =>
    (await database.run(`SELECT FROM pg_stat_activity WHERE pid = ${busy.pid} AND wait_event = 'PgSleep'`)).length === 1
  while (!(await isAtWork()));
  await store.runPromise(Effect.andThen(look, look))
  assert.isTrue(await isAtWork())
  await database.run(`SELECT pg_terminate_backend(${busy.pid})`)
  await working
})

it("a writer's session releases its locks when its client's machine disappears, and limits its transactions", async () => {
  const program = Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* (yield* PgClient.PgClient).reserve
      yield* boundTransactions(connection)
      return yield* connection.execute(
        `SELECT name, setting FROM pg_settings
         WHERE name IN ('transaction_timeout', 'client_connection_check_interval') ORDER BY name`,
        [],
        undefined,
      )
    }),
  )
  const settings = await Effect.runPromise(
    Effect.provide(program, Layer.fresh(OwnerClient.layer({ url: database.url, maxConnections: 1 }))),
  )
  assert.deepStrictEqual(settings, [
    { name: "client_connection_check_interval", setting: "5000" },
    ...(postgresMajor() >= 17 ? [{ name: "transaction_timeout", setting: "35000" }] : []),
  ])
})
