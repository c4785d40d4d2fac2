/** Followers of the end of the feed: what they are notified of, by which process, and at what cost. */
import { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import { type FollowFilter, MAX_COUNTED } from "@data-cabinet/core/feed/FeedListener"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { type Arrivals, FeedTailStore } from "@data-cabinet/core/feed/FeedTailStore"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"
import { intakeCabinet } from "../../../../test/support/intakeCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"

const database = withDatabase()
let here: Awaited<ReturnType<typeof intakeCabinet>>
let there: typeof here
let orders: SourceWithSecret
let letters: SourceWithSecret
beforeAll(async () => {
  here = await intakeCabinet(database.url)
  there = await intakeCabinet(database.url)
  orders = await here.source("Orders")
  letters = await here.source("Letters")
})
afterAll(() => Promise.all([here.close(), there.close()]))

const ALL: FollowFilter = { sourceId: null, channel: null }

/** Not how long a notification takes, but when it is missing. */
const MISSING_AFTER = "4 minutes"

/** `count` events in one request, none a repeat. */
let sent = 0
const send = async (by: typeof here, source: SourceWithSecret, count: number) => {
  for (let left = count; left > 0; left -= 100) {
    const items = Array.from({ length: Math.min(100, left) }, () => `{"n":${sent++}}`)
    const headers = { "content-type": "application/json" }
    const response = await fetch(by.address(source), { method: "POST", headers, body: `[${items.join()}]` })
    assert.strictEqual(response.status, 200, await response.text())
  }
}

const endOf = (filter: FollowFilter) => here.run(FeedFollower.use(({ end }) => end(filter)))

/** Follows in a process from a cursor while `act` runs, until it has been notified of this many events. */
const told = (by: typeof here, filter: FollowFilter, cursor: string, until: number, act: () => Promise<void>) =>
  by.run(
    Effect.gen(function* () {
      const next = yield* yield* (yield* FeedFollower).follow(filter, cursor)
      yield* Effect.promise(act)
      let [events, rows, more, last] = [0, 0, false, cursor]
      while (events < until) {
        const came = yield* next
        ;[events, rows, more, last] = [events + came.events, rows + came.rows, came.more, came.cursor]
      }
      return { events, rows, more, cursor: last }
    }).pipe(Effect.scoped, Effect.timeout(MISSING_AFTER)),
  )

it("reports the events that this process and another accept, to each follower by its filter", async () => {
  const [all, some] = [await endOf(ALL), await endOf({ ...ALL, sourceId: orders.id })]
  const act = async () => {
    await send(here, orders, 3)
    await send(there, letters, 2)
    await send(there, orders, 4)
  }
  const [every, own] = await Promise.all([
    told(here, ALL, all, 9, act),
    told(there, { ...ALL, sourceId: orders.id }, some, 7, async () => {}),
  ])
  assert.deepStrictEqual([every.events, every.rows, every.more], [9, 9, false])
  assert.deepStrictEqual([own.events, own.rows], [7, 7])
})

it("counts exactly the events since a follower's last cursor", async () => {
  const filter: FollowFilter = { sourceId: orders.id, channel: "webhook" }
  const first = await told(here, filter, await endOf(filter), 1, () => send(here, orders, 1))
  await send(there, orders, 5_000)
  await send(there, letters, 10)
  const later = await told(here, filter, first.cursor, 5_001, () => send(here, orders, 1))
  assert.deepStrictEqual([later.events, later.more], [5_001, false])
  // It is the feed's own cursor: no event is after it.
  const answer = await told(there, filter, later.cursor, 2, () => send(there, orders, 2))
  assert.strictEqual(answer.events, 2)
})

it("counts a repeat as an event without a row", async () => {
  const cursor = await endOf(ALL)
  const same = async () => {
    for (let time = 0; time < 2; time++) await fetch(here.address(letters), { method: "POST", body: "name=twice" })
  }
  const { events, rows } = await told(here, ALL, cursor, 2, same)
  assert.deepStrictEqual({ events, rows }, { events: 2, rows: 1 })
})

it("limits the count for a follower that was away for long", async () => {
  const before = await endOf(ALL)
  await runSql(
    database.url,
    `INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
     SELECT (SELECT max(epoch) FROM cabinet.epoch), pg_current_xact_id()::text::bigint, nextval('cabinet.event_id'),
       ${orders.id}, now(), 'file', true, false, '{}' FROM generate_series(1, ${MAX_COUNTED + 5})`,
  )
  const { events, more } = await told(here, ALL, before, MAX_COUNTED, async () => {})
  assert.deepStrictEqual({ events, more }, { events: MAX_COUNTED, more: true })
})

it("finds the end of the feed by number, whichever channel has the last event", async () => {
  // Compared as text, this event's transaction would come after every other.
  await runSql(
    database.url,
    `INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
     SELECT (SELECT max(epoch) FROM cabinet.epoch), 9, nextval('cabinet.event_id'), ${letters.id}, now(), 'pull', false, false, '{}'`,
  )
  await send(here, orders, 2)
  const { events } = await told(here, ALL, await endOf(ALL), 1, () => send(here, orders, 1))
  assert.strictEqual(events, 1)
})

it("starts a follower with a cursor ahead of the database at the database's end, and refuses another filter's cursor", async () => {
  const cursor = await endOf(ALL)
  await send(here, orders, 1)
  const later = await endOf(ALL)
  await runSql(database.url, "ALTER TABLE cabinet.event DISABLE TRIGGER ALL")
  await runSql(database.url, "DELETE FROM cabinet.event WHERE id = (SELECT max(id) FROM cabinet.event)")
  const { events } = await told(here, ALL, later, 2, () => send(here, orders, 2))
  assert.strictEqual(events, 2)
  const refused = await here.run(
    FeedFollower.use(({ follow }) => Effect.flip(follow({ ...ALL, channel: "file" }, cursor))),
  )
  assert.include(JSON.stringify(refused), "bad_cursor")
})

it("wakes a reader, by this process and by another, for its own events and after the database was set back", async () => {
  /** Whether the follower of the letters is woken, if it `should` be within any time. */
  const isWoken = (should: boolean, act: () => Promise<unknown>) =>
    here.run(
      Effect.gen(function* () {
        const { wakes } = yield* FeedFollower
        const all = yield* wakes({ ...ALL, sources: null }, FEED_START)
        const own = yield* wakes({ ...ALL, sources: new Set([letters.id]) }, all.end)
        yield* Effect.promise(act)
        yield* Effect.timeout(all.next, MISSING_AFTER)
        return Option.isSome(yield* Effect.timeoutOption(own.next, should ? MISSING_AFTER : "300 millis"))
      }).pipe(Effect.scoped),
    )
  assert.isFalse(await isWoken(false, () => send(here, orders, 1)))
  assert.isTrue(await isWoken(true, () => send(there, letters, 1)))
  const removeLast = "DELETE FROM cabinet.event WHERE id = (SELECT max(id) FROM cabinet.event)"
  assert.isTrue(await isWoken(true, () => runSql(database.url, removeLast)))
})

/** A store that counts its reads, each of which brings an event. */
const counting = () => {
  const reads = { end: 0, arrivals: 0, count: 0 }
  const layer = FeedFollower.layer.pipe(
    Layer.provideMerge(FeedSignal.layer),
    Layer.provide(Layer.succeed(CursorKeys, { key: Effect.succeed(new CursorKey(new Uint8Array(32))) })),
    Layer.provide(
      Layer.succeed(FeedTailStore, {
        end: Effect.sync(() => (reads.end++, FEED_START)),
        start: () => Effect.succeed(FEED_START),
        arrivals: (after) =>
          Effect.sync((): Arrivals => {
            reads.arrivals++
            const end = { ...after, epoch: 1, id: after.id + 1 }
            return { arrived: [{ sourceId: 1, channel: "webhook", events: 1, rows: 1 }], end, hasMore: false }
          }),
        count: () => Effect.sync(() => (reads.count++, { events: 0, rows: 0 })),
      }),
    ),
  )
  return { reads, layer }
}

it.effect(
  "reads nothing without followers, and at most five times a second for any number of followers and signals",
  () => {
    const { reads, layer } = counting()
    return Effect.gen(function* () {
      const { end, follow } = yield* FeedFollower
      const signal = yield* FeedSignal
      const cursor = yield* end(ALL)
      const storm = Effect.forEach(
        Array.from({ length: 1_000 }),
        () => Effect.andThen(Effect.sync(signal.wake), TestClock.adjust("1 millis")),
        { discard: true },
      )
      yield* storm
      assert.deepStrictEqual(reads, { end: 1, arrivals: 0, count: 0 })
      const followers = yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.forkChild(
          Effect.scoped(Effect.flatMap(Effect.flatten(follow(ALL, cursor)), (next) => Effect.forever(next))),
        ),
      )
      yield* storm
      assert.isAtLeast(reads.arrivals, 4)
      assert.isAtMost(reads.arrivals, 7)
      yield* Effect.forEach(followers, Fiber.interrupt)
      yield* TestClock.adjust("2 seconds")
      const { arrivals } = reads
      yield* storm
      assert.strictEqual(reads.arrivals, arrivals)
    }).pipe(Effect.provide(layer))
  },
)
