/** A foreign session that blocks the acceptance of events is named in the log, and terminated where permitted. */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { BODY_SECRET, bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { testCabinetLayer } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"

const lines: Array<string> = []
/** A separate store, which has not waited for any session yet. */
const open = (url: string) =>
  ManagedRuntime.make(
    Layer.provideMerge(
      testCabinetLayer(url),
      Logger.layer([Logger.make(({ message }) => void lines.push([message].flat().join(" ")))]),
    ),
  )

const database = withDatabase()
let store: ReturnType<typeof open>
beforeAll(() => {
  store = open(database.url)
})
afterAll(() => store.dispose())

/** Runs `meanwhile` while a session of this login has run the statement and keeps its transaction open. */
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
const accept = (sourceId: number, body: string, through = store) =>
  through.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, body, true))))

const keyOf = async (sourceId: number, body: string) => {
  const fingerprint = requestOf(sourceId, body, true).events[0]!.fingerprint!
  const [row] = await database.run(`SELECT ${BODY_SECRET} AS secret`)
  return bodyKeys(row!["secret"] as string)([{ sourceId, fingerprint }])[0]!
}

it("Blockers names and terminates a foreign session that holds the lock of a body", async () => {
  const { author } = await store.runPromise(ensureRoles({ url: database.url }))
  if (!author.there) return assert.fail(author.reason)
  const sourceId = await newSource()
  const key = await keyOf(sourceId, "held")
  const told = () => lines.find((line) => line.includes("waits for process"))
  await holding(author.url, `SELECT pg_advisory_xact_lock(${key})`, async () => {
    // On a busy machine an accept may give up the lock before its holder is looked up.
    do assert.lengthOf(await accept(sourceId, "held"), 1)
    while (told() === undefined)
  })
  assert.match(
    told()!,
    new RegExp(
      `\\(${author.role}, a stranger, idle in transaction\\), which holds the lock of a body, in a transaction since .*: asked it to end$`,
    ),
  )
})

it("Blockers names a session of the owner or a superuser, and leaves it alone", async () => {
  const sourceId = await newSource()
  await accept(sourceId, "before")
  lines.length = 0
  await holding(database.superuserUrl, "LOCK TABLE cabinet.repeat_window IN EXCLUSIVE MODE", async () => {
    // On a busy machine an accept may give up before the holder of the lock is looked up.
    do await accept(sourceId, "meanwhile").catch(() => undefined)
    while (!lines.some((line) => /a stranger.*a lock on cabinet\.repeat_window, in a transaction since /.test(line)))
    const [there] = await database.run(
      "SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'a stranger'",
    )
    assert.strictEqual(there!["n"], 1)
  })
})

it("a foreign session that cannot be terminated is awaited once: its body is accepted unmarked, others in time and marked", async () => {
  const sourceId = await newSource()
  const held = open(database.url)
  await accept(sourceId, "before", held)
  lines.length = 0
  await holding(database.superuserUrl, `SELECT pg_advisory_xact_lock(${await keyOf(sourceId, "held")})`, async () => {
    const first = await Promise.all(["held", "a", "b", "c"].map((body) => accept(sourceId, body, held)))
    assert.deepStrictEqual(
      first.map(([receipt]) => receipt!.repeatOf),
      [null, null, null, null],
    )
    // On a busy machine an accept may give up the lock before its holder is looked up.
    while (!/accepting events waits for process .*, which holds the lock of a body/.test(lines.join())) {
      assert.isNull((await accept(sourceId, "held", held))[0]!.repeatOf)
    }
    // With the waits of the first time, these would take two minutes.
    for (let n = 0; n < 200; n++) {
      const bodies = ["held", `other ${n >> 1}`]
      const [again, other] = (await Promise.all(bodies.map((body) => accept(sourceId, body, held)))).flat()
      assert.isNull(again!.repeatOf)
      assert.strictEqual(other!.repeatOf === null, n % 2 === 0, "a body whose lock is free is marked as ever")
    }
  })
  await held.dispose()
})

it("a slow equal body delays no other", async () => {
  const sourceId = await newSource()
  const other = open(database.url)
  // Another process of the service, whose accept has only got its locks.
  await holding(database.url, `SELECT pg_advisory_xact_lock(${await keyOf(sourceId, "slow")})`, async () => {
    const receipts = await Promise.all(["slow", "quick"].map((body) => accept(sourceId, body, other)))
    assert.lengthOf(receipts.flat(), 2)
  })
  await other.dispose()
})

/** Reads the keys of all held locks, and takes each for itself, as long as it runs. */
const GRAB = `DO $$
  DECLARE seen bigint;
  BEGIN
    FOR n IN 1..100000 LOOP
      FOR seen IN SELECT DISTINCT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l
          WHERE l.locktype = 'advisory' AND l.objsubid = 1
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LOOP
        PERFORM pg_advisory_lock(seen);
      END LOOP;
    END LOOP;
  END $$`

it("authors who lock every key that they see, and return when terminated, cost no sender an event", async () => {
  const { author } = await store.runPromise(ensureRoles({ url: database.url }))
  if (!author.there) return assert.fail(author.reason)
  const sourceId = await newSource()
  const honest = open(database.url)
  let over = false
  const grabber = async () => {
    while (!over) await runSql(author.url, GRAB).catch(() => undefined)
  }
  const grabbers = [grabber(), grabber(), grabber()]
  const sender = async (lane: number) => {
    const ids: Array<number> = []
    for (let n = 0; n < 40; n++) {
      const body = n % 2 === 0 ? "the same of all" : `lane ${lane} ${n}`
      const [receipt] = await accept(sourceId, body, honest)
      ids.push(receipt!.id)
    }
    return ids
  }
  const ids = (await Promise.all([0, 1, 2, 3].map(sender))).flat()
  over = true
  await database.run(
    `SELECT count(pg_terminate_backend(pid))::int4 FROM pg_stat_activity WHERE usename = '${author.role}'`,
  )
  await Promise.all(grabbers)
  await honest.dispose()
  assert.strictEqual(new Set(ids).size, 160)
  // Every mark is right: a repeat comes after its first event.
  const wrong = await database.run(
    `SELECT e.id::int4 FROM cabinet.event e JOIN cabinet.event f ON f.id = e.repeat_of
     WHERE (f.epoch, f.xid, f.id) >= (e.epoch, e.xid, e.id) OR f.repeat_of IS NOT NULL`,
  )
  assert.deepStrictEqual(wrong, [])
})
