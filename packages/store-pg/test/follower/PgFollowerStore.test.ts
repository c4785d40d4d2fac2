/** Leases of followers on a real PostgreSQL, with its clock set. */
import { activityFollower } from "@data-cabinet/core/activity/CountActivity"
import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FollowerStore, type HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { migrate } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { watchFollowers } from "@data-cabinet/store-pg/follower/FollowerWatch"
import { Effect, Metric, Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { requestOf } from "../../../../test/fault/acceptRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { stopClock } from "../../../../test/support/stoppedClock.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let sourceId: number
beforeAll(async () => {
  cabinet = testCabinet(database.url)
  await stopClock(database.run)
  sourceId = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Followed" })))).id
})
afterAll(() => cabinet.dispose())

type Store = FollowerStore["Service"]
const store = <A, E>(work: (store: Store) => Effect.Effect<A, E>) => cabinet.runPromise(FollowerStore.use(work))
const claim = async () => Option.getOrNull(await store((one) => one.claim("activity")))
const turn = (held: HeldFollower) => cabinet.runPromise(activityFollower.turn(held))
const state = async () => (await store((one) => one.list)).find(({ kind }) => kind === "activity")!
const later = (seconds: number) =>
  database.run(`UPDATE cabinet.clock SET shift = shift + interval '${seconds} seconds'`)
let sent = 0
/** An event that is received at the moment at which the clock stands. */
const accept = async () => {
  const body = `body ${sent++}`
  const [receipt] = await cabinet.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, body, false))))
  await database.run(`UPDATE cabinet.event SET received_at = cabinet.now() WHERE id = ${receipt!.id}`)
}

/** Nothing is left for the follower, and no process works on it. */
beforeEach(async () => {
  await later(1_000)
  const held = await claim()
  if (held === null) return
  await turn(held)
  await store((one) => one.release(held, 0))
})

it("claim takes a follower only if events lie ahead of it, and writes nothing otherwise", async () => {
  const before = await database.run("SELECT ctid::text, xmin::text FROM cabinet.follower")
  assert.isNull(await claim())
  assert.isNull(await store((one) => one.nextDue("activity")))
  assert.deepStrictEqual(await database.run("SELECT ctid::text, xmin::text FROM cabinet.follower"), before)
  await accept()
  assert.isAtMost((await store((one) => one.nextDue("activity")))!, 0)
  assert.isNotNull(await claim())
})

it("claim gives a follower to one of several processes, and to another only after the lease", async () => {
  await accept()
  const claims = await Promise.all([claim(), claim(), claim()])
  const [first] = claims.filter((held) => held !== null)
  assert.lengthOf(
    claims.filter((held) => held !== null),
    1,
  )
  assert.match((await state()).holder ?? "", /:\d+$/)
  await later(29)
  assert.isNull(await claim())
  await later(2)
  const second = (await claim())!
  assert.strictEqual(second.lease, first!.lease + 1)
  assert.strictEqual(await turn(first!), "lost")
  assert.strictEqual((await state()).behind, 1)
  assert.strictEqual(await turn(second), "end")
  assert.strictEqual((await state()).behind, 0)
})

it("releasing an outdated claim changes nothing, and releasing the current one lets the follower rest", async () => {
  await accept()
  const outdated = (await claim())!
  await later(31)
  const current = (await claim())!
  await store((one) => one.release(outdated, 0))
  assert.strictEqual(await store((one) => one.fail(outdated, "late")), 0)
  assert.isNull(await claim())
  await store((one) => one.release(current, 15_000))
  assert.isNull((await state()).holder)
  const due = (await store((one) => one.nextDue("activity")))!
  assert.strictEqual(Math.round(due), 15_000)
  await later(16)
  assert.isNotNull(await claim())
})

it("a failing follower keeps its position and waits longer each time, until it moves on", async () => {
  await accept()
  const position = (await state()).eventId
  for (const [failures, seconds] of [
    [1, 1],
    [2, 2],
    [3, 4],
  ] as const) {
    const held = (await claim())!
    assert.strictEqual(await store((one) => one.fail(held, `error ${failures}`)), failures)
    assert.isNull(await claim())
    const failed = await state()
    assert.deepInclude(failed, { eventId: position, failures, error: `error ${failures}`, holder: null, behind: 1 })
    assert.match(failed.retryAt ?? "", /Z$/)
    await later(seconds + 1)
  }
  assert.strictEqual(Math.round((await state()).behindSeconds), 10)
  assert.strictEqual(await turn((await claim())!), "end")
  assert.deepInclude(await state(), { failures: 0, error: null, retryAt: null, behind: 0, behindSeconds: 0 })
})

it("a reader advances a follower without its lease, unless it is being advanced already", async () => {
  await accept()
  const held = (await claim())!
  const count = () => cabinet.runPromise(ActivityStore.use((one) => one.countEvents(100, null)))
  assert.strictEqual(await count(), 1)
  assert.deepInclude(await state(), { behind: 0, failures: 0 })
  assert.strictEqual(await turn(held), "end")
  await accept()
  assert.strictEqual(await turn(held), "end")
})

it("watchFollowers shows in the metrics how far behind a follower is and how often it failed", async () => {
  await accept()
  await store((one) => Effect.flatMap(one.claim("activity"), (held) => one.fail(Option.getOrThrow(held), "away")))
  await later(60)
  await cabinet.runPromise(watchFollowers(new LiveGauges()))
  const metrics = await cabinet.runPromise(Metric.snapshot)
  const valueOf = (name: string) => {
    const own = metrics.find(({ id, attributes }) => id === name && attributes?.["database"] === database.name)
    return Number((own?.state as { readonly value?: number } | undefined)?.value)
  }
  assert.strictEqual(valueOf("follower_behind_events"), 1)
  assert.strictEqual(valueOf("follower_failures"), 1)
  assert.isAtLeast(valueOf("follower_behind_seconds"), 60)
})

it("the migration moves the activity's position, after which a process of the previous version counts nothing", async () => {
  await database.run("DROP TABLE cabinet.follower, cabinet.attempt_count CASCADE")
  await database.run("DELETE FROM cabinet.migration WHERE name = 'followers'")
  await database.run("INSERT INTO cabinet.activity_cursor VALUES (true, 7, 8, 9, '2026-11-01T00:00:00Z')")
  await Effect.runPromise(migrate.pipe(Effect.provide(OwnerClient.layer({ url: database.url }))))
  assert.deepStrictEqual(
    await database.run(
      "SELECT kind, name, epoch::int, xid::int, event_id::int, (SELECT until = '2026-11-01T00:00:00Z' FROM cabinet.attempt_count) AS attempts FROM cabinet.follower",
    ),
    [{ kind: "activity", name: "activity", epoch: 7, xid: 8, event_id: 9, attempts: true }],
  )
  // It locks the cursor before it counts events or attempts.
  assert.deepStrictEqual(await database.run("SELECT epoch FROM cabinet.activity_cursor FOR UPDATE SKIP LOCKED"), [])
})
