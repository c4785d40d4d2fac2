/** The life of a source: switched off and on, renamed, moved to a new address, deleted with or without its table. */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { deleteExpired } from "@data-cabinet/store-pg/maintenance/Retention"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { PgClient } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

const sources = <A, E>(use: (service: Sources["Service"]) => Effect.Effect<A, E>) => store.runPromise(Sources.use(use))
const opens = async (secret: string) => Option.isSome(await sources((all) => all.bySecret(secret)))
const accept = (sourceId: number, sourceVersion: number) =>
  store.runPromise(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion,
        channel: "webhook",
        history: false,
        events: [{ ...fingerprintedEvent(new Map([["a", "1"]])), fingerprint: null }],
        original: null,
      }),
    ),
  )
const made = async (name: string) => {
  const source = await sources((all) => all.create({ name }))
  await accept(source.id, 1)
  // On a busy machine the row may have to wait for its column.
  await store.runPromise(drainDeferredRows)
  return source
}
const feedOf = async (sourceId: number) => {
  const page = await store.runPromise(
    FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 100, sourceId, channel: null })),
  )
  return page.items.texts().map((item) => JSON.parse(item) as { source: { name: string } })
}

it("an archived source accepts nothing, and accepts again once it is restored", async () => {
  const { id, intakeSecret } = await made("Archived")
  assert.isTrue((await sources((all) => all.archive(id))).archived)
  assert.isFalse(await opens(intakeSecret))
  assert.isTrue(Option.isNone(await sources((all) => all.forIntake(id))))
  assert.isFalse((await sources((all) => all.restore(id))).archived)
  assert.isTrue(await opens(intakeSecret))
})

it("a renamed source keeps its address and table, and its events show the new name", async () => {
  const { id, intakeSecret, table } = await made("Before")
  const after = await sources((all) => all.change(id, { name: "After" }))
  assert.deepStrictEqual(after.table, table)
  assert.isTrue(await opens(intakeSecret))
  assert.deepStrictEqual((await feedOf(id))[0]!.source.name, "After")
})

it("a new intake address closes the old one immediately", async () => {
  const before = await made("Rotated")
  const after = await sources((all) => all.rotateSecret(before.id))
  assert.notStrictEqual(after.intakeSecret, before.intakeSecret)
  assert.deepStrictEqual([await opens(before.intakeSecret), await opens(after.intakeSecret)], [false, true])
})

it.each(["keep", "drop"] as const)(
  "a deleted source (table: %s) accepts nothing more; its events stay",
  async (fate) => {
    const { id, intakeSecret, table } = await made(`Deleted ${fate}`)
    await sources((all) => all.remove(id, fate))
    assert.isFalse(await opens(intakeSecret))
    assert.isTrue(Option.isNone(await sources((all) => all.get(id))))
    assert.include(await sources((all) => Effect.flip(all.restore(id))), { code: "no_such_source" })
    assert.lengthOf(await feedOf(id), 1)
    const there = await database.run(
      `SELECT 1 FROM pg_tables WHERE schemaname = 'sources' AND tablename = '${table!.name}'`,
    )
    assert.lengthOf(there, fate === "keep" ? 1 : 0)
  },
)

it("a table with dependent views is not dropped, and then the source is not deleted either", async () => {
  const { id, intakeSecret, table } = await made("Viewed")
  await database.run(`CREATE VIEW public.seen AS SELECT a FROM sources.${table!.name}`)
  assert.include(await sources((all) => Effect.flip(all.remove(id, "drop"))), { code: "table_in_use" })
  assert.isTrue(await opens(intakeSecret))
})

it("a table in use is not dropped, which is reported, and then the source is not deleted either", async () => {
  const { id } = await made("In use")
  const refusal = await store.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const reading = Effect.gen(function* () {
        yield* sql`LOCK TABLE sources.in_use IN ACCESS SHARE MODE`
        return yield* Effect.promise(() => sources((all) => Effect.flip(all.remove(id, "drop"))))
      })
      return yield* sql.withTransaction(reading)
    }),
  )
  assert.deepInclude(refusal, { code: "table_in_use" })
  assert.match(refusal.message, /is being used/)
  assert.isTrue(Option.isSome(await sources((all) => all.get(id))))
})

it("deferred rows are written to the table that a deleted source leaves behind", async () => {
  const { id } = await made("Left behind")
  await database.run("DELETE FROM sources.left_behind")
  await database.run(`INSERT INTO cabinet.deferred_row SELECT id, source_id FROM cabinet.event WHERE source_id = ${id}`)
  await sources((all) => all.remove(id, "keep"))
  await store.runPromise(drainDeferredRows)
  // The store's own drain may be the one that writes it.
  await expect.poll(() => database.run("SELECT a FROM sources.left_behind")).toEqual([{ a: "1" }])
})

it("the polls of a deleted source end with it: their headers immediately, and their seen marks with the next round", async () => {
  const { id } = await made("Polled")
  const [poll] = await database.run(
    `INSERT INTO cabinet.poll (source_id, url, every_seconds, headers)
     VALUES (${id}, 'https://example.com/', 60, '[["X-Key", "s3cret"]]') RETURNING id::int AS id`,
  )
  await database.run(
    `INSERT INTO cabinet.poll_seen SELECT ${String(poll!["id"])}, sha256(n::text::bytea) FROM generate_series(1, 10) n`,
  )
  const forget = () =>
    store.runPromise(deleteExpired({ originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }))
  assert.strictEqual((await forget()).marks, 0)
  await sources((all) => all.remove(id, "keep"))
  const left = await database.run(`SELECT headers::text AS headers, removed_at IS NULL AS lives FROM cabinet.poll`)
  assert.deepStrictEqual(left, [{ headers: "[]", lives: false }])
  assert.strictEqual((await forget()).marks, 10)
})
