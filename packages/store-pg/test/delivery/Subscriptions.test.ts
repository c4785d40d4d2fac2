/** The triggers that keep which events go to which addresses do their work once a statement, however many addresses it changes. */
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  await cabinet.begin()
})

/** Runs a statement that may write the count of subscriptions so often. */
const countingOnce = (statement: string, times = 1) =>
  cabinet.run(`DO $do$
    DECLARE written bigint;
    BEGIN
      ${statement};
      SELECT n_tup_ins + n_tup_upd INTO written FROM pg_stat_xact_user_tables
      WHERE relid = 'cabinet.subscription_count'::regclass;
      IF written <> ${times} THEN RAISE EXCEPTION 'counted % times', written; END IF;
    END $do$`)

const state = async () => {
  const [row] = await cabinet.run(`
    SELECT (SELECT count(*)::int FROM cabinet.subscription WHERE until_event IS NULL) AS going,
      (SELECT coalesce(sum(addresses), 0)::int FROM cabinet.subscription_count) AS counted,
      (SELECT count(*)::int FROM cabinet.changed_address) AS noted`)
  return row
}

const ADD = `INSERT INTO cabinet.address (url, secret, every_source)
  SELECT 'https://example.com/' || n, 'whsec_', true FROM generate_series(1, 150) n`

it("adding, filtering and removing many addresses each count once", async () => {
  await countingOnce(ADD)
  assert.deepEqual(await state(), { going: 150, counted: 150, noted: 0 })
  await countingOnce(`UPDATE cabinet.address SET filters = '[{"fc":"a","fo":"eq","fv":"1"}]' WHERE id % 2 = 0`)
  assert.deepEqual(await state(), { going: 75, counted: 75, noted: 0 })
  await countingOnce("UPDATE cabinet.address SET filters = NULL WHERE id % 2 = 0")
  assert.deepEqual(await state(), { going: 150, counted: 150, noted: 0 })
  await countingOnce("UPDATE cabinet.address SET removed_at = now() WHERE id % 3 = 0")
  assert.deepEqual(await state(), { going: 100, counted: 100, noted: 0 })
})

it("changes of an address that leave its events as they are count nothing", async () => {
  await cabinet.run(ADD)
  await countingOnce("UPDATE cabinet.address SET failing_since = now(), every_source = true, filters = NULL", 0)
  assert.deepEqual(await state(), { going: 150, counted: 150, noted: 0 })
})
