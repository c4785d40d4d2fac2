/** Who may take the fence, and when an accept has it. */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, type ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { acceptOf } from "../../../../test/fault/openAccept.ts"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { fenceHolders } from "@data-cabinet/store-pg/feed/FenceWatch"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
let strangers: ReadonlyArray<string>
type Store = typeof store extends ManagedRuntime.ManagedRuntime<infer R, infer _> ? R : never
const run = <A, E>(effect: Effect.Effect<A, E, Store>) => store.runPromise(effect)

beforeAll(async () => {
  store = testCabinet(database.url)
  const { reader, author } = await run(ensureRoles({ url: database.url }))
  strangers = [reader, author].map((role) => (role.there ? role.url : assert.fail(role.reason)))
})
afterAll(() => store.dispose())

const newSource = async () => (await run(Sources.use((sources) => sources.create({ name: "Orders" })))).id
const accept = (sourceId: number, body: string) =>
  run(EventLog.use((log) => appendEvents(log, requestOf(sourceId, body, true))))
const shown = async (sourceId: number) =>
  (await run(FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 100, sourceId, channel: null })))).items
    .length

/** Runs `meanwhile` while a session of this login is in a transaction that has run the statements. */
const holding = <A>(url: string, statements: ReadonlyArray<string>, meanwhile: () => Promise<A>) =>
  PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        for (const statement of statements) yield* sql.unsafe(statement)
        return yield* Effect.promise(meanwhile)
      }),
    ),
  ).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1, applicationName: "a stranger" })),
    Effect.runPromise,
  )

it.each(["force_custom_plan", "force_generic_plan"])(
  "an accept waits at the fence before it has a transaction id, unprepared and prepared (%s)",
  async (mode) => {
    const sourceId = await newSource()
    await accept(sourceId, "so that there is an epoch")
    const program = Effect.gen(function* () {
      const connection = yield* (yield* PgClient.PgClient).reserve
      const [me] = (yield* connection.execute("SELECT pg_backend_pid() AS pid", [], undefined)) as ReadonlyArray<{
        pid: number
      }>
      yield* connection.execute(`SET plan_cache_mode = ${mode}`, [], undefined)
      for (let round = 0; round < 8; round++) {
        const { text, values } = acceptOf(sourceId, String(round))
        const accepted = yield* Effect.promise(() =>
          holding(database.url, ["LOCK TABLE cabinet.fence IN EXCLUSIVE MODE"], async () => {
            const accepting = Effect.runPromise(connection.execute(text, values, undefined))
            for (;;) {
              const [waits] = await database.run(
                `SELECT a.backend_xid IS NULL AS without FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                 WHERE NOT l.granted AND l.relation = 'cabinet.fence'::regclass AND pid = ${me!.pid}`,
              )
              if (waits === undefined) continue
              assert.isTrue(waits["without"])
              return { accepting }
            }
          }),
        )
        assert.lengthOf((yield* Effect.promise(() => accepted.accepting)) as ReadonlyArray<unknown>, 1)
      }
    })
    await run(Effect.scoped(program))
    assert.strictEqual(await shown(sourceId), 9)
  },
)

it("neither the reader nor the author may take the fence, or a lock that blocks it", async () => {
  for (const url of strangers) {
    for (const attempt of [
      "LOCK TABLE cabinet.fence IN ACCESS SHARE MODE",
      "SELECT FROM cabinet.fence FOR KEY SHARE",
    ]) {
      const refused = await holding(url, [attempt], async () => undefined).catch((error: unknown) => error)
      assert.match(String((refused as { reason?: { cause?: unknown } }).reason?.cause), /permission denied for schema/)
    }
  }
})

it("a dump, which reads every table, delays neither the feed nor a new epoch", async () => {
  const sourceId = await newSource()
  await holding(database.superuserUrl, ["LOCK TABLE cabinet.fence IN ACCESS SHARE MODE"], async () => {
    await database.run("DELETE FROM cabinet.epoch WHERE epoch = (SELECT max(epoch) FROM cabinet.epoch)")
    await database.run("SELECT cabinet.check_epoch()::text")
    await accept(sourceId, "while it is dumped")
    assert.strictEqual(await shown(sourceId), 1)
    assert.deepStrictEqual(await run(fenceHolders), [])
  })
})
