import { nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { Effect } from "effect"
import { beforeEach, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
beforeEach(async () => {
  await database.run("TRUNCATE cabinet.poll, cabinet.import, cabinet.source CASCADE")
  await database.run(`INSERT INTO cabinet.source (id, name, intake_secret, secret_hash, archived_at, deleted_at) VALUES
    (1, 'open', 'a', 'a', NULL, NULL), (2, 'archived', 'b', 'b', cabinet.now(), NULL), (3, 'deleted', 'c', 'c', NULL, cabinet.now())`)
})

const seconds = () => Effect.runPromise(nextDue(database.url, 90))
const poll = (source: number) =>
  database.run(`INSERT INTO cabinet.poll (source_id, url, every_seconds) VALUES (${source}, 'http://127.0.0.1:9', 60)`)
const accepting = (source: number) =>
  database.run(
    `INSERT INTO cabinet.import (source_id, channel, history, name, state) VALUES (${source}, 'file', true, 'x', 'accepting')`,
  )

it("nextDue is null when nothing is due, and not in the future when something is", async () => {
  expect(await seconds()).toBeNull()
  await poll(1)
  expect(await seconds()).toBeLessThanOrEqual(0)
})

it("nextDue ignores polls and imports that wait while their source is switched off", async () => {
  await poll(2)
  await poll(3)
  await accepting(2)
  expect(await seconds()).toBeNull()
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
  expect(await seconds()).toBeNull()
  // From the day on which it ends; how far that is from midnight does not matter here.
  await pass("89 days 23 hours 50 minutes")
  const left = await seconds()
  expect(left === null || (left > 0 && left <= 540)).toBe(true)
  await pass("9 minutes 30 seconds")
  expect(await seconds()).toBeLessThanOrEqual(0)
})
