import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

const sourceWith = async (name: string, ...values: ReadonlyArray<string>) => {
  const source = await store.runPromise(Sources.use((sources) => sources.create({ name })))
  const ids: Array<number> = []
  for (const value of values) {
    const payload = new Map([["a", value]])
    const [receipt] = await store.runPromise(
      EventLog.use((log) =>
        appendEvents(log, {
          sourceId: source.id,
          sourceVersion: 1,
          channel: "webhook",
          history: false,
          events: [fingerprintedEvent(payload)],
          original: originalRequest("secret body"),
        }),
      ),
    )
    ids.push(receipt!.id)
  }
  return { source, ids }
}
const rowsOf = (table: string) => database.run(`SELECT _event_id::int AS id, a FROM sources.${table} ORDER BY 1`)
const feedOf = async (sourceId: number) => {
  const page = await store.runPromise(
    FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 100, sourceId, channel: null })),
  )
  return page.items
    .texts()
    .map((item) => JSON.parse(item) as { id: number; payload: unknown; deleted_at: string | null })
}

it("trash deletes the row and marks the event in the feed, restore undoes both", async () => {
  const { source, ids } = await sourceWith("Trash", "1", "2")
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.trash(source.id, [ids[0]!]))), 1)
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.trash(source.id, [ids[0]!]))), 0)
  assert.deepStrictEqual(await rowsOf("trash"), [{ id: ids[1], a: "2" }])
  const trashed = await feedOf(source.id)
  assert.isString(trashed[0]!.deleted_at)
  assert.deepStrictEqual(trashed[0]!.payload, { a: "1" })
  assert.isNull(trashed[1]!.deleted_at)
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.untrash(source.id, ids))), 1)
  // The store's own drain of deferred rows may be the one that writes it.
  await expect
    .poll(() => rowsOf("trash"))
    .toEqual([
      { id: ids[0], a: "1" },
      { id: ids[1], a: "2" },
    ])
  assert.isNull((await feedOf(source.id))[0]!.deleted_at)
})

it("trash refuses the whole call when one event belongs to another source", async () => {
  const mine = await sourceWith("Mine", "1")
  const other = await sourceWith("Other", "1")
  const error = await store.runPromise(
    Effect.flip(Trash.use((trash) => trash.trash(mine.source.id, [mine.ids[0]!, other.ids[0]!]))),
  )
  assert.strictEqual(error.message, `Source ${mine.source.id} has no event ${other.ids[0]}.`)
  assert.strictEqual((await rowsOf("mine")).length, 1)
})

it("one statement that trashes or deletes events cancels the deliveries of exactly those", async () => {
  const { source, ids } = await sourceWith("At once", "1", "2", "3", "4")
  const [first, second, third, fourth] = ids as [number, number, number, number]
  const wanted = `event_id IN (${ids.join()})`
  const write = (sql: string) => database.run(sql.replaceAll("NOW", "cabinet.now()"))
  const stateOf = () =>
    database.run(`SELECT event_id::int AS id, state FROM cabinet.delivery WHERE ${wanted} ORDER BY event_id`)
  const listed = async () =>
    (await database.run(`SELECT event_id::int AS id, actor_name FROM cabinet.trashed_event WHERE ${wanted} ORDER BY 1`)) //
      .map(({ id, actor_name: name }) => [id, name])
  for (const id of ids)
    await write(`INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at) VALUES (1, ${id}, NOW, NOW)`)
  const states = (...all: ReadonlyArray<string>) => all.map((state, n) => ({ id: ids[n], state }))

  await write(`UPDATE cabinet.event SET spam = NULL, verified = true WHERE source_id = ${source.id}`)
  assert.deepStrictEqual([await stateOf(), await listed()], [states("due", "due", "due", "due"), []])
  await write(`UPDATE cabinet.event SET deleted_at = NOW WHERE id IN (${first}, ${second})`)
  assert.deepStrictEqual(await stateOf(), states("cancelled", "cancelled", "due", "due"))
  await write(`UPDATE cabinet.trashed_event SET actor_name = 'Ann' WHERE event_id = ${first}`)
  await write(`UPDATE cabinet.event SET deleted_at = NOW WHERE id IN (${first}, ${third})`)
  assert.deepStrictEqual(await stateOf(), states("cancelled", "cancelled", "cancelled", "due"))
  assert.deepStrictEqual(await listed(), [[first, "Ann"], [second, null], [third, null]]) // prettier-ignore
  await write(`DELETE FROM cabinet.event WHERE id IN (${second}, ${fourth})`)
  assert.deepStrictEqual(await stateOf(), states("cancelled", "cancelled", "cancelled", "cancelled"))
  assert.deepStrictEqual(await listed(), [[first, "Ann"], [third, null]]) // prettier-ignore
})

it("purge erases the sent data, including in repeats, and keeps the event's position", async () => {
  const { source, ids } = await sourceWith("Purge", "private", "private", "other")
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.purge([ids[1]!]))), 2)
  assert.deepStrictEqual(await rowsOf("purge"), [{ id: ids[2], a: "other" }])
  const feed = await feedOf(source.id)
  assert.deepStrictEqual(
    feed.map((event) => [event.id, event.payload, event.deleted_at !== null]),
    [
      [ids[0], {}, true],
      [ids[1], {}, true],
      [ids[2], { a: "other" }, false],
    ],
  )
  const [left] = await database.run(
    `SELECT (SELECT count(*)::int FROM cabinet.original_request WHERE source_id = ${source.id}) AS originals,
            (SELECT count(*)::int FROM cabinet.repeat_window WHERE source_id = ${source.id}) AS marks`,
  )
  assert.deepStrictEqual(left, { originals: 1, marks: 1 })
  assert.strictEqual(await store.runPromise(Trash.use((trash) => trash.untrash(source.id, [ids[0]!]))), 0)
})

it.each(["trash", "purge"] as const)(
  "%s also takes the row that is being inserted when it stops waiting",
  async (how) => {
    const { source, ids } = await sourceWith(`Late ${how}`, "1")
    const table = `sources.late_${how}`
    await database.run(`DELETE FROM ${table}`)
    // Holds up the row's insertion from within until the gate opens.
    await database.run(`CREATE TABLE public.gate_${how} ()`)
    await database.run(`CREATE FUNCTION public.hold_${how}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM public.gate_${how}) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END $$`)
    await database.run(
      `CREATE TRIGGER hold AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.hold_${how}()`,
    )
    await database.run(`GRANT SELECT ON public.gate_${how} TO cabinet`)
    // Only now, because the loop that checks every second may take deferred rows at any moment.
    await database.run(`INSERT INTO cabinet.deferred_row VALUES (${ids[0]}, ${source.id})`)
    const drained = store.runPromise(drainDeferredRows)
    const asks = async (what: string) =>
      (await database.run(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${what}`)).length > 0
    while (!(await asks("query LIKE '%json_populate_recordset%' AND state = 'active' AND pid <> pg_backend_pid()")));
    const gone = store.runPromise(
      Trash.use((trash) => (how === "trash" ? trash.trash(source.id, ids) : trash.purge(ids))),
    )
    let ended = false
    void gone.then(() => (ended = true))
    while (!ended && !(await asks("wait_event_type = 'Lock'")));
    await database.run(`INSERT INTO public.gate_${how} DEFAULT VALUES`)
    await Promise.all([drained, gone])
    assert.deepStrictEqual(await database.run(`SELECT FROM ${table}`), [])
  },
)
