/** Each event is counted once: by several processes, behind accepts that are slow to commit, and after any failure. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, type ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { whileAccepting } from "../../../../test/fault/openAccept.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let here: ReturnType<typeof testCabinet>
let there: typeof here
type Store = typeof here extends ManagedRuntime.ManagedRuntime<infer R, infer _> ? R : never
const run = <A, E>(effect: Effect.Effect<A, E, Store>) => here.runPromise(effect)

beforeAll(() => {
  here = testCabinet(database.url)
  there = testCabinet(database.url)
})
afterAll(() => Promise.all([here.dispose(), there.dispose()]))

const newSource = async (name: string) => (await run(Sources.use((sources) => sources.create({ name })))).id
let sent = 0
const accept = (sourceId: number, body = `body ${sent++}`) =>
  run(EventLog.use((log) => appendEvents(log, requestOf(sourceId, body, true))))
const count = (limit: number, by = here) => by.runPromise(ActivityStore.use((store) => store.countEvents(limit, null)))
const countAll = async () => {
  while (((await count(1_000)) ?? 0) > 0);
}
const runEach = async (...statements: ReadonlyArray<string>) => {
  for (const statement of statements) await database.run(statement)
}
const counts = () =>
  database.run(
    "SELECT source_id::int, hour::text, events::int, repeats::int, empties::int, history::int, last_event_id::int FROM cabinet.activity ORDER BY 1, 2",
  )
const truth = () =>
  database.run(`
    SELECT source_id::int, date_trunc('hour', received_at, 'UTC')::text AS hour, count(*)::int AS events, count(repeat_of)::int AS repeats,
      count(*) FILTER (WHERE empty)::int AS empties, count(*) FILTER (WHERE history)::int AS history, max(id)::int AS last_event_id
    FROM cabinet.event GROUP BY 1, 2 ORDER BY 1, 2`)

it("counts each event once, by hour and source, while several processes count and events arrive", async () => {
  const sources = [await newSource("Orders"), await newSource("Letters")]
  for (let round = 0; round < 4; round++) {
    await database.run("UPDATE cabinet.clock SET shift = shift + interval '25 minutes'")
    const work = [...Array(10)].map((_, n) => accept(sources[n % 2]!, n < 3 ? "the same" : undefined))
    await Promise.all([...work, count(3), count(4, there), count(2), count(5, there)])
  }
  await countAll()
  assert.deepStrictEqual(await counts(), await truth())
  assert.isAbove((await counts()).length, 2)
  assert.strictEqual(await count(1_000, there), 0)
})

it("does not count past an accept that has not committed, and counts it then", async () => {
  const sourceId = await newSource("Slow")
  const meanwhile = Effect.promise(async () => {
    await accept(sourceId)
    await countAll()
    assert.notDeepEqual(await counts(), await truth())
  })
  await run(whileAccepting(sourceId, "slow", meanwhile))
  await countAll()
  assert.deepStrictEqual(await counts(), await truth())
})

it("counts nothing when its transaction fails, and everything once afterwards", async () => {
  await accept(await newSource("Faulty"))
  const before = await counts()
  await database.run("ALTER TABLE cabinet.follower ADD CONSTRAINT fault CHECK (event_id < 0) NOT VALID")
  const failed = await run(Effect.exit(ActivityStore.use((store) => store.countEvents(10, null))))
  assert.strictEqual(failed._tag, "Failure")
  assert.deepStrictEqual(await counts(), before)
  await database.run("ALTER TABLE cabinet.follower DROP CONSTRAINT fault")
  await countAll()
  assert.deepStrictEqual(await counts(), await truth())
})

it("keeps the counts of events that are trashed, restored or purged", async () => {
  const sourceId = await newSource("Trash")
  await accept(sourceId)
  await accept(sourceId)
  await countAll()
  const before = await counts()
  const [{ id } = {}] = await database.run(`SELECT max(id)::int AS id FROM cabinet.event WHERE source_id = ${sourceId}`)
  await run(Trash.use((trash) => trash.trash(sourceId, [id as number])))
  await run(Trash.use((trash) => trash.untrash(sourceId, [id as number])))
  await run(Trash.use((trash) => trash.trash(sourceId, [id as number])))
  await run(Trash.use((trash) => trash.purge([id as number])))
  await countAll()
  assert.deepStrictEqual(await counts(), before)
})

const events = (step: "hour" | "day", from: string | null, to: string | null, sourceId: number) =>
  run(ActivityStore.use((store) => store.events({ sourceId, step, from, to, last: 3, timeZone: "America/New_York" })))

it("returns every step of a period in days of the cabinet's time zone, even across a clock change", async () => {
  const sourceId = await newSource("Steps")
  await database.run(`
    INSERT INTO cabinet.activity SELECT h::timestamptz, ${sourceId}, 1, 0, 0, 0, h::timestamptz, 1
    FROM unnest('{2025-11-01T03:00Z,2025-11-01T04:00Z,2025-11-02T05:00Z,2025-11-02T06:00Z,2025-11-03T04:00Z,2025-11-03T05:00Z}'::text[]) h`)
  const days = await events("day", "2025-11-01T12:00:00Z", "2025-11-04T05:00:00Z", sourceId)
  assert.deepStrictEqual(
    days.map(({ at, events: all }) => [at, all]),
    [
      ["2025-11-01T04:00:00Z", 1],
      ["2025-11-02T04:00:00Z", 3],
      ["2025-11-03T05:00:00Z", 1],
    ],
  )
  const hours = await events("hour", null, "2025-11-02T06:30:00Z", sourceId)
  assert.deepStrictEqual(
    hours.map(({ at, events: all }) => [at, all]),
    [
      ["2025-11-02T04:00:00Z", 0],
      ["2025-11-02T05:00:00Z", 1],
      ["2025-11-02T06:00:00Z", 1],
    ],
  )
  assert.lengthOf(await events("day", null, null, sourceId), 3)
})

/** The hours before now in which events arrived. */
const cameBefore = (sourceId: number, hours: ReadonlyArray<number>) =>
  database.run(`
    INSERT INTO cabinet.activity SELECT date_trunc('hour', cabinet.now() - h * interval '1 hour', 'UTC'), ${sourceId}, 1, 0, 0, 0,
      date_trunc('hour', cabinet.now() - h * interval '1 hour', 'UTC'), 1
    FROM unnest('{${hours.join(",")}}'::int[]) h`)

it("a source is quiet when silent for longer than its nights and weekends, but not if it rarely receives", async () => {
  const office = await newSource("Office")
  const rare = await newSource("Rare")
  const off = await newSource("Off")
  const busy = await newSource("Busy")
  /** Weekdays from 8 to 17 for four weeks, the last `since` hours ago. */
  const weeks = (since: number) =>
    [...Array(28 * 24)]
      .map((_, n) => n + since)
      .filter((n) => (n - since) % 24 < 9 && Math.floor((n - since) / 24) % 7 < 5)
  await cameBefore(office, weeks(100))
  await cameBefore(off, weeks(100))
  await cameBefore(rare, [100, 200, 300, 400])
  await cameBefore(busy, weeks(60))
  await run(Sources.use((sources) => sources.archive(off)))
  const { sources } = await run(Activity.use((activity) => activity.overview))
  const of = (id: number) => sources.find(({ sourceId }) => sourceId === id)!
  assert.deepStrictEqual(
    [office, rare, off, busy].map((id) => of(id).quiet),
    [true, false, false, false],
  )
  const { silence } = of(office)
  assert.strictEqual(silence!.usualSeconds, 64 * 3600)
  assert.isAtLeast(silence!.seconds, 100 * 3600)
  assert.isAtLeast(silence!.activeDays, 20)
})

it("counts each attempt once, by hour, address and duration, and shows it before it is counted", async () => {
  const attempts = "INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms)"
  await runEach(
    "UPDATE cabinet.attempt_count SET until = cabinet.now() - interval '25 minutes'",
    "INSERT INTO cabinet.address (id, url, secret, every_source) VALUES (7, 'https://example.com/hook', 's', true)",
    `${attempts} SELECT n, 1, 7, cabinet.now() - interval '3 minutes', n % 4 > 0, CASE WHEN n = 99 THEN 14999 ELSE n END
     FROM generate_series(0, 99) n`,
    `${attempts} VALUES (100, 1, 7, cabinet.now() - interval '10 seconds', true, 1)`,
  )
  const all = async () => {
    while (
      (
        await Promise.all([here, there].map((by) => by.runPromise(ActivityStore.use((store) => store.countAttempts))))
      ).some((counted) => counted)
    );
  }
  const shown = { delivered: 76, failed: 25, p50Millis: 50, p95Millis: 100 }
  const overview = () => run(Activity.use((activity) => activity.overview))
  const counted = () => database.run("SELECT sum(attempts)::int AS n FROM cabinet.attempt_activity")
  assert.deepStrictEqual((await overview()).deliveries, shown)
  assert.deepStrictEqual(await counted(), [{ n: null }])
  await all()
  assert.deepStrictEqual(await counted(), [{ n: 100 }])
  assert.deepStrictEqual((await overview()).deliveries, shown)
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '3 minutes'")
  await all()
  assert.deepStrictEqual(await counted(), [{ n: 101 }])
  assert.deepStrictEqual((await overview()).deliveries, shown)
})

it("reports since when events are uncounted, and how much waits for a failing address", async () => {
  const sourceId = await newSource("Behind")
  await countAll()
  for (let n = 0; n < 3; n++) await accept(sourceId)
  await runEach(
    "UPDATE cabinet.clock SET shift = shift + interval '2 minutes'",
    "UPDATE cabinet.address SET failing_since = cabinet.now() WHERE id = 7",
  )
  const uncounted = () => run(ActivityStore.use((store) => store.firstUncounted))
  assert.match((await uncounted()) ?? "", /^\d{4}-.*Z$/)
  await countAll()
  assert.isNull(await uncounted())
  const [waiting] = await run(ActivityStore.use((store) => store.waitingAtFailing))
  assert.deepStrictEqual([waiting?.addressId, waiting?.waiting], [7, 3])
})
