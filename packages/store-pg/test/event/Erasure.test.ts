/** An erasure of many events: in stretches, each complete, and restarted after an interruption. */
import { Erasure, type ErasureQuery } from "@data-cabinet/core/event/Erasure"
import { ErasureStore } from "@data-cabinet/core/event/ErasureStore"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const EVENTS = 30_000
const MEANT = 300

const database = withDatabase()
let store: ReturnType<typeof testCabinet>

beforeAll(async () => {
  store = testCabinet(database.url)
  await database.run("SELECT cabinet.check_epoch()")
  await database.run(`INSERT INTO cabinet.source (name, intake_secret, secret_hash)
    SELECT 'S' || n, n, sha256(n::text::bytea) FROM generate_series(1, 2) n`)
  await database.run(`INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
    SELECT (SELECT max(epoch) FROM cabinet.epoch), n, n * 3, 1 + n % 2, now(), 'webhook', false, false,
           json_build_object('email', CASE WHEN n % 100 = 0 THEN 'ann@x.y' ELSE 'bob@x.y' END, 'n', n,
                             'long', repeat('x', CASE WHEN n BETWEEN 500 AND 600 THEN 100000 ELSE 0 END))
    FROM generate_series(1, ${EVENTS}) n`)
})
afterAll(() => store.dispose())

const query = (after: number, sourceId: number | null = null): ErasureQuery => ({
  filters: [{ fc: "email", fo: "eq", fv: "ann@x.y" }],
  sourceId,
  after,
})

const through = async (kind: "find" | "erase", sourceId: number | null = null) => {
  let events = 0
  let after: number | null = 0
  while (after !== null) {
    const at: number = after
    const found = await store.runPromise(Erasure.use((erasure) => erasure[kind](query(at, sourceId))))
    events += found.events
    after = found.next
  }
  return events
}

const stillThere = async () => {
  const [row] = await database.run(
    `SELECT (count(*) FILTER (WHERE payload ->> 'email' = 'ann@x.y'))::int AS ann,
       (count(*) FILTER (WHERE payload ->> 'email' = 'bob@x.y'))::int AS bob FROM cabinet.event`,
  )
  return [row!["ann"], row!["bob"]]
}

it("read returns stretches with limited events, bytes and numbers, which together are complete", async () => {
  const seen: Array<number> = []
  let after: number | null = 0
  while (after !== null) {
    const at: number = after
    const { events, next } = await store.runPromise(ErasureStore.use((events_) => events_.read(at, null)))
    assert.isAtMost(events.length, 1_000)
    assert.isAtMost(
      events.reduce((sum, { payload }) => sum + payload.length, 0),
      5 * 1024 * 1024,
    )
    for (const { id } of events) seen.push(id)
    after = next
  }
  assert.deepStrictEqual(
    seen,
    Array.from({ length: EVENTS }, (_, n) => 3 * (n + 1)),
  )
})

it("an interrupted erasure keeps its progress, and erases the rest when restarted", async () => {
  assert.strictEqual(await through("find"), MEANT)
  assert.strictEqual(await through("find", 2), 0)
  assert.deepStrictEqual(await stillThere(), [MEANT, EVENTS - MEANT])
  // Interrupted after its first purge.
  await database.run(`CREATE FUNCTION public.broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.id > 45000 THEN RAISE 'broken off'; END IF; RETURN NEW; END $$`)
  await database.run(
    "CREATE TRIGGER broken BEFORE UPDATE ON cabinet.event FOR EACH ROW EXECUTE FUNCTION public.broken()",
  )
  const exit = await store.runPromiseExit(Effect.promise(() => through("erase")))
  assert.strictEqual(exit._tag, "Failure")
  const [ann] = await stillThere()
  assert.isAbove(ann as number, 0)
  assert.isBelow(ann as number, MEANT)
  await database.run("DROP TRIGGER broken ON cabinet.event")
  assert.strictEqual(await through("erase"), ann)
  assert.deepStrictEqual(await stillThere(), [0, EVENTS - MEANT])
})
