/** A stranger in the database that holds what accepting an event waits for is named in the log, and ended where it may be. */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { BODY_SECRET, bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { requestOf } from "../../../../test/fault/feedWriter.ts"
import { storeLayer } from "../../../../test/support/cabinet.ts"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

const lines: Array<string> = []
const open = (url: string) =>
  ManagedRuntime.make(
    Layer.provideMerge(
      storeLayer(url),
      Logger.layer([Logger.make(({ message }) => void lines.push([message].flat().join(" ")))]),
    ),
  )

let database: TestDatabase
let store: ReturnType<typeof open>
beforeAll(async () => {
  database = await testDatabase()
  store = open(database.url)
})
afterAll(async () => {
  await store.dispose()
  await database.drop()
})

/** Runs `meanwhile` while a session of this login has run the statement and not ended its transaction. */
const holding = (url: string, statement: string, meanwhile: () => Promise<void>) =>
  PgClient.PgClient.use((sql) =>
    Effect.gen(function* () {
      const connection = yield* sql.reserve
      yield* connection.execute("BEGIN", [], undefined)
      yield* connection.execute(statement, [], undefined)
      yield* Effect.promise(meanwhile)
    }),
  ).pipe(
    Effect.scoped,
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1, applicationName: "a stranger" })),
    Effect.runPromise,
  )

const newSource = async () => (await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
const accept = (sourceId: number, body: string) =>
  store.runPromise(EventLog.use((log) => log.append(requestOf(sourceId, body, true))))

it("a stranger who holds the lock of a body, by whatever way it learned the key, is named and ended", async () => {
  const { author } = await store.runPromise(ensureRoles({ url: database.url }))
  if (!author.there) return assert.fail(author.reason)
  const sourceId = await newSource()
  const fingerprint = requestOf(sourceId, "held", true).events[0]!.fingerprint!
  const [row] = await database.run(`SELECT ${BODY_SECRET} AS secret`)
  const [key] = bodyKeys(row!["secret"] as string)({ sourceId: [sourceId], fingerprint: [fingerprint] })
  await holding(author.url, `SELECT pg_advisory_xact_lock(${key})`, async () => {
    assert.lengthOf(await accept(sourceId, "held"), 1)
  })
  assert.match(
    lines.find((line) => line.includes("waits for process"))!,
    new RegExp(
      `\\(${author.role}, a stranger, idle in transaction\\), which holds the lock of a body, in a transaction since .*: ended it$`,
    ),
  )
})

it("a session of the owner or above that is at the schema is named, and let be", async () => {
  const sourceId = await newSource()
  await accept(sourceId, "before")
  lines.length = 0
  await holding(database.superuserUrl, "LOCK TABLE cabinet.repeat_mark IN EXCLUSIVE MODE", async () => {
    const accepting = accept(sourceId, "meanwhile").catch(() => undefined)
    while (!lines.some((line) => /a stranger.*a lock on cabinet\.repeat_mark, in a transaction since /.test(line)))
      await new Promise((done) => setTimeout(done, 20))
    const [there] = await database.run(
      "SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE application_name = 'a stranger'",
    )
    assert.strictEqual(there!["n"], 1)
    await accepting
  })
})
