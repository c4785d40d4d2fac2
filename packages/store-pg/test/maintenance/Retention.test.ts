/**
 * Old partitions are dropped while events are accepted and a session reads for long. Days pass by the cabinet's own
 * clock.
 */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { deleteExpired } from "@data-cabinet/store-pg/maintenance/Retention"
import { PgClient } from "@effect/sql-pg"
import { Exit, Option, Scope } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

let database: TestDatabase
let store: ReturnType<typeof testCabinet>
let source: number

beforeEach(async () => {
  database = await testDatabase()
  store = testCabinet(database.url, { settings: { retentionDays: 90 } })
  source = (await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
})
afterEach(async () => {
  await store.dispose()
  await database.drop()
})

const accept = async (): Promise<number> => {
  const [receipt] = await store.runPromise(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId: source,
        sourceVersion: 1,
        channel: "webhook",
        history: false,
        events: [{ ...fingerprintedEvent(new Map([["a", "1"]])), fingerprint: null }],
        original: originalRequest("a=1"),
      }),
    ),
  )
  return receipt!.id
}

const pass = (time: string) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${time}'`)
const forget = () =>
  store.runPromise(deleteExpired({ originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }))
const originals = async () => (await database.run("SELECT count(*)::int AS n FROM cabinet.original_request"))[0]!["n"]

/** A transaction that has read all originals and stays open; returns a function that ends it. */
const longReader = async () => {
  const scope = Scope.makeUnsafe()
  const session = await PgClient.PgClient.use((sql) => Scope.provide(sql.reserve, scope)).pipe((reserve) =>
    store.runPromise(reserve),
  )
  const run = (text: string) => store.runPromise(session.execute(text, [], undefined))
  await run("BEGIN")
  await run("SELECT count(*) FROM cabinet.original_request")
  return async () => {
    await run("COMMIT")
    await store.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Waits until the session that detaches partitions is itself waiting, and returns its process id. */
const waiting = async (): Promise<number> => {
  for (;;) {
    const [row] = await database.run(
      "SELECT pid FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE%DETACH%' AND wait_event_type = 'Lock' AND datname = current_database()",
    )
    if (row !== undefined) return row["pid"] as number
  }
}

it("deleteExpired deletes originals after 90 days by the cabinet's clock, and keeps the events", async () => {
  const id = await accept()
  await pass("89 days")
  await accept()
  expect((await forget()).originals).toBe(0)
  expect(await originals()).toBe(2)
  await pass("2 days")
  expect((await forget()).originals).toBe(2)
  expect(await originals()).toBe(1)
  expect(await database.run(`SELECT id::int FROM cabinet.event WHERE id = ${id}`)).toEqual([{ id }])
  // Sets the clock back, as after a test: dropped days are recreated when they are needed.
  await pass("-91 days")
  expect(await accept()).toBeGreaterThan(id)
})

it("deleteExpired keeps an original visible for 90 days to the minute, then deletes it, wherever in the day that is", async () => {
  const shown = async (id: number) =>
    Option.getOrThrow(await store.runPromise(EventDetail.use((events) => events.find(id)))).original !== null
  const atHour = (hour: number) =>
    database.run(
      `UPDATE cabinet.clock SET shift = shift + date_trunc('day', cabinet.now(), 'UTC') + interval '1 day ${hour} hours' - cabinet.now()`,
    )
  await atHour(12)
  const [first, second] = [await accept(), await accept()]
  await pass("1 hour")
  const later = await accept()
  await pass("89 days 22 hours 59 minutes")
  expect(await shown(first)).toBe(true)
  expect(await forget()).toMatchObject({ originalRows: 0 })
  await pass("1 minute")
  expect(await Promise.all([first, second, later].map(shown))).toEqual([false, false, true])
  // Originals that are no longer visible exist until the next round.
  expect(await originals()).toBe(3)
  expect(await forget()).toMatchObject({ originalRows: 2 })
  expect(await originals()).toBe(1)
  await pass("1 hour")
  expect(await shown(later)).toBe(false)
  expect(await forget()).toMatchObject({ originalRows: 1 })
  expect(await database.run("SELECT count(*)::int AS n FROM cabinet.event")).toEqual([{ n: 3 }])
})

it("deleteExpired deletes more originals of a day than one statement can, and no others", async () => {
  const insert = (from: number, count: number) =>
    database.run(
      `INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, charset, charset_from, replaced)
       SELECT n, cabinet.now(), 1, '', 0, 'utf-8', 'json', 0 FROM generate_series(${from}, ${from + count - 1}) n`,
    )
  await database.run(
    `UPDATE cabinet.clock SET shift = date_trunc('day', clock_timestamp(), 'UTC') + interval '12 hours' - clock_timestamp()`,
  )
  await insert(1, 4_100)
  await pass("1 hour")
  await insert(4_101, 4_100)
  await pass("89 days 23 hours 30 minutes")
  expect(await forget()).toMatchObject({ originalRows: 4_100 })
  expect(await forget()).toMatchObject({ originalRows: 0 })
  expect(await database.run("SELECT min(id)::int AS first, count(*)::int AS n FROM cabinet.original_request")).toEqual([
    { first: 4_101, n: 4_100 },
  ])
})

it("deleteExpired never delays an accept, however long a session reads", async () => {
  await accept()
  await pass("91 days")
  await accept()
  const endReading = await longReader()
  const forgetting = forget()
  await waiting()
  for (let n = 0; n < 50; n++) await accept()
  await waiting()
  // Another process finds the work already in progress.
  expect((await forget()).originals).toBe(0)
  await endReading()
  expect((await forgetting).originals).toBe(2)
  expect(await originals()).toBe(51)
})

it("deleteExpired completes an interrupted earlier run", async () => {
  await accept()
  await pass("91 days")
  const endReading = await longReader()
  const forgetting = forget()
  await database.run(`SELECT pg_cancel_backend(${await waiting()})`)
  expect((await forgetting).originals).toBe(0)
  await accept()
  await endReading()
  expect((await forget()).originals).toBe(2)
  const left = await database.run("SELECT 1 FROM pg_inherits WHERE inhdetachpending")
  expect(left).toEqual([])
})

it("deleteExpired deletes runs of polls, failed ones later, and never the last of a poll", async () => {
  await database.run(
    "INSERT INTO cabinet.poll_run (poll_id, at, duration_ms, outcome) SELECT 1, cabinet.now(), 1, o FROM unnest(ARRAY['read', 'failed', 'unchanged']) o",
  )
  await pass("31 days")
  expect((await forget()).runs).toBe(1)
  await pass("60 days")
  expect((await forget()).runs).toBe(1)
  expect(await database.run("SELECT outcome FROM cabinet.poll_run")).toEqual([{ outcome: "unchanged" }])
})

it("deleteExpired deletes imports of polls and failed ones, but never an accepted file, nor one in progress", async () => {
  await database.run(
    `INSERT INTO cabinet.import (source_id, channel, history, name, state, finished_at)
     SELECT 1, c, false, c || ' ' || s, s, CASE WHEN s IN ('done', 'failed') THEN cabinet.now() END
     FROM unnest(ARRAY['file', 'pull']) c, unnest(ARRAY['done', 'failed', 'accepting']) s`,
  )
  const left = async () => (await database.run("SELECT name FROM cabinet.import ORDER BY id")).map((row) => row["name"])
  await pass("31 days")
  expect((await forget()).imports).toBe(1)
  expect(await left()).not.toContain("pull done")
  await pass("60 days")
  expect((await forget()).imports).toBe(2)
  expect(await left()).toEqual(["file done", "file accepting", "pull accepting"])
})

it("deleteExpired deletes idempotency records after a day, including open ones", async () => {
  const begin = (key: string, response: string) =>
    database.run(
      `INSERT INTO cabinet.idempotency (actor, key, request, response) VALUES ('token 1', '${key}', '', ${response})`,
    )
  const left = async () => (await database.run("SELECT key::text FROM cabinet.idempotency ORDER BY id")).length
  await begin("\\x01", "'{}'")
  await begin("\\x02", "NULL")
  await pass("23 hours 59 minutes")
  await begin("\\x03", "'{}'")
  expect((await forget()).keyed).toBe(0)
  await pass("2 minutes")
  expect((await forget()).keyed).toBe(2)
  expect(await left()).toBe(1)
})
