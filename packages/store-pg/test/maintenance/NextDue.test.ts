import { type KeptDays, nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { Effect } from "effect"
import { beforeEach, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
beforeEach(async () => {
  await database.run("TRUNCATE cabinet.poll, cabinet.import, cabinet.source CASCADE")
  await database.run(`INSERT INTO cabinet.source (id, name, intake_secret, secret_hash, archived_at, deleted_at) VALUES
    (1, 'open', 'a', 'a', NULL, NULL), (2, 'archived', 'b', 'b', cabinet.now(), NULL), (3, 'deleted', 'c', 'c', NULL, cabinet.now())`)
})

/** Logs are kept long enough that only the test of their partitions sees any expire. */
const KEPT = { originalDays: 90, logDays: 3_650, failedLogDays: 3_650, auditDays: 3_650 }
const IDLE_SECONDS = 3_000 * 86_400

const seconds = (kept: Partial<KeptDays> = {}) => Effect.runPromise(nextDue(database.url, { ...KEPT, ...kept }))
const poll = (source: number) =>
  database.run(`INSERT INTO cabinet.poll (source_id, url, every_seconds) VALUES (${source}, 'http://127.0.0.1:9', 60)`)
const accepting = (source: number) =>
  database.run(
    `INSERT INTO cabinet.import (source_id, channel, history, name, state) VALUES (${source}, 'file', true, 'x', 'accepting')`,
  )

it("nextDue is far away when nothing is due, and not in the future when something is", async () => {
  expect(await seconds()).toBeGreaterThan(IDLE_SECONDS)
  await poll(1)
  expect(await seconds()).toBeLessThanOrEqual(0)
})

it("nextDue ignores polls and imports that wait while their source is switched off", async () => {
  await poll(2)
  await poll(3)
  await accepting(2)
  expect(await seconds()).toBeGreaterThan(IDLE_SECONDS)
  await accepting(1)
  expect(await seconds()).toBeLessThanOrEqual(0)
})

it("nextDue reports an import whose source was deleted, which still has to be abandoned", async () => {
  await accepting(3)
  expect(await seconds()).toBeLessThanOrEqual(0)
})

it("nextDue reports when the oldest original request expires", async () => {
  const original = (id: number, ago: string) =>
    database.run(`INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, charset, charset_from, replaced)
      VALUES (${id}, cabinet.now() - interval '${ago}', 1, '', 0, 'utf-8', 'json', 0)`)
  const pass = (time: string) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${time}'`)
  await original(1, "1 minute")
  await original(2, "0")
  expect(await seconds()).toBeGreaterThan(IDLE_SECONDS)
  // From the day on which it ends; its distance from midnight does not matter here.
  await pass("89 days 23 hours 50 minutes")
  const left = await seconds()
  expect(left! > IDLE_SECONDS || (left! > 0 && left! <= 540)).toBe(true)
  await pass("9 minutes 30 seconds")
  expect(await seconds()).toBeLessThanOrEqual(0)
})

it("nextDue reports when the first partition of a log has expired", async () => {
  await database.run("UPDATE cabinet.clock SET shift = '0'")
  const days = async (kept: Partial<KeptDays>) => Math.ceil((await seconds(kept))! / 86_400)
  const [oldest] = await database.run(
    `SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) - (cabinet.now() AT TIME ZONE 'UTC')::date + 1 AS days
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'cabinet.audit'::regclass`,
  )
  expect(await days({ auditDays: 400 })).toBe(400 + Number(oldest!["days"]))
  expect(await days({ logDays: 30 })).toBeLessThan(40)
  expect(await days({ failedLogDays: 60 })).toBeGreaterThan(50)
  await database.run("UPDATE cabinet.clock SET shift = '40 days'")
  expect(await seconds({ logDays: 30 })).toBeLessThanOrEqual(0)
  await database.run("UPDATE cabinet.clock SET shift = '0'")
})
