/** Followers of the end of a feed in memory: their notifications, when these come, and their cost. */
import type { Channel } from "@data-cabinet/core/event/EventLog"
import { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import { type FollowFilter, MAX_COUNTED, type NewEvents } from "@data-cabinet/core/feed/FeedListener"
import { writeCursor } from "@data-cabinet/core/feed/FeedParams"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Random, Seed } from "../intake/Random.ts"
import { FeedInMemory, KEY } from "./FeedInMemory.ts"

const ALL: FollowFilter = { sourceId: null, channel: null }
const beginning = (filter: FollowFilter) => writeCursor(KEY, filter, FEED_START)

/** Follows in the background; returns the notifications in order. */
const following = Effect.fnUntraced(function* (filter: FollowFilter, cursor: string) {
  const told: Array<NewEvents> = []
  const next = yield* yield* (yield* FeedFollower).follow(filter, cursor)
  const tell = Effect.forever(Effect.map(next, (one) => void told.push(one)))
  yield* Effect.forkScoped(tell, { startImmediately: true })
  return told
})

const sumOf = (told: ReadonlyArray<NewEvents>) => ({
  events: told.reduce((sum, { events }) => sum + events, 0),
  rows: told.reduce((sum, { rows }) => sum + rows, 0),
})

/** Waits in the background; returns whether it was woken. */
const sleeping = Effect.fnUntraced(function* (next: Effect.Effect<void>) {
  const fiber = yield* Effect.forkScoped(next, { startImmediately: true })
  return () => fiber.pollUnsafe() !== undefined
})

const CHANNELS: ReadonlyArray<Channel> = ["webhook", "file", "pull"]

it.effect.prop(
  "each follower is notified of each event of its filter once, whichever process accepts it and whenever it joined",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const feed = new FeedInMemory()
    return Effect.gen(function* () {
      const { wake } = yield* FeedSignal
      const { end } = yield* FeedFollower
      const followers: Array<[told: ReadonlyArray<NewEvents>, expected: () => ReadonlyArray<boolean>]> = []
      for (let step = 0; step < 12; step++) {
        feed.accept(1 + random.below(3), random.below(4), random.pick(CHANNELS), random.below(2) === 0)
        if (random.below(2) === 0) wake()
        if (random.below(3) === 0) {
          const filter = { sourceId: random.pick([null, 1, 2]), channel: random.pick([null, ...CHANNELS]) }
          const after = random.pick([FEED_START, feed.end])
          const cursor = after === FEED_START ? beginning(filter) : yield* end(filter)
          const told = yield* following(filter, cursor)
          followers.push([told, () => feed.behind(after, filter).map(({ hasRow }) => hasRow)])
        }
        yield* TestClock.adjust(random.pick([0, 10, 300, 2_000, 10_000]))
      }
      yield* TestClock.adjust("5 seconds")
      for (const [told, expected] of followers) {
        const rows = expected()
        assert.deepStrictEqual(sumOf(told), { events: rows.length, rows: rows.filter(Boolean).length })
        assert.isFalse(told.some(({ events, more }) => events === 0 || more))
      }
    }).pipe(Effect.scoped, Effect.provide(feed.layer))
  },
  { arbitrary: { runs: 60 } },
)

it.effect("a count's cursor is after all counted events, and refused for another filter", () => {
  const feed = new FeedInMemory()
  feed.accept(1, 3)
  return Effect.gen(function* () {
    const filter: FollowFilter = { sourceId: 1, channel: "webhook" }
    const told = yield* following(filter, beginning(filter))
    yield* TestClock.adjust("1 second")
    feed.accept(1, 2)
    feed.accept(2, 5)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(
      told.map(({ events }) => events),
      [3, 2],
    )
    assert.strictEqual(told[1]!.cursor, writeCursor(KEY, filter, feed.end))
    const { follow } = yield* FeedFollower
    for (const other of [ALL, { ...filter, sourceId: 2 }, { ...filter, channel: null }])
      assert.deepInclude(yield* Effect.flip(follow(other, told[1]!.cursor)), { code: "bad_cursor" })
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("after the database was set back, followers continue at its current end, with all later events", () => {
  const feed = new FeedInMemory()
  feed.accept(1, 5)
  return Effect.gen(function* () {
    const cursor = yield* (yield* FeedFollower).end(ALL)
    feed.events = feed.events.slice(0, 3)
    const told = yield* following(ALL, cursor)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(told, [])
    feed.accept(1, 2)
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(sumOf(told).events, 2)
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("people are notified at most five times a second, with all events since then in one count", () => {
  const feed = new FeedInMemory()
  return Effect.gen(function* () {
    const { wake } = yield* FeedSignal
    const told = yield* following(ALL, beginning(ALL))
    // A waiting program does not make notifications more frequent.
    const program = yield* (yield* FeedFollower).wakes({ ...ALL, sources: null }, FEED_START)
    yield* Effect.forkScoped(Effect.forever(program.next))
    for (let n = 0; n < 200; n++) {
      feed.accept(1)
      wake()
      yield* TestClock.adjust(10)
    }
    yield* TestClock.adjust("1 second")
    assert.strictEqual(sumOf(told).events, 200)
    assert.isAbove(told.length, 5)
    assert.isAtMost(told.length, 12)
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("a follower that was away for long learns that there are more events than were counted", () => {
  const feed = new FeedInMemory()
  feed.accept(1, MAX_COUNTED)
  return Effect.gen(function* () {
    const all = yield* following(ALL, beginning(ALL))
    feed.accept(1, 1, "webhook", false)
    yield* TestClock.adjust("2 seconds")
    const more = yield* following(ALL, beginning(ALL))
    yield* TestClock.adjust(0)
    assert.deepStrictEqual(
      all.map((one) => [one.events, one.more]),
      [
        [MAX_COUNTED, false],
        [1, false],
      ],
    )
    assert.deepInclude(more[0], { events: MAX_COUNTED, rows: MAX_COUNTED, more: true })
    feed.accept(1)
    yield* TestClock.adjust("2 seconds")
    assert.deepInclude(more.at(-1), { events: 1, more: false })
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect(
  "a program is woken by events that it may read, at once by this process and within a second by another",
  () => {
    const feed = new FeedInMemory()
    return Effect.gen(function* () {
      const { wake } = yield* FeedSignal
      const { wakes } = yield* FeedFollower
      const waiting = yield* wakes({ sourceId: 1, channel: "file", sources: null }, FEED_START)
      const listed = yield* wakes({ ...ALL, sources: new Set([1, 3]) }, FEED_START)
      const [own, any] = [yield* sleeping(waiting.next), yield* sleeping(listed.next)]
      yield* TestClock.adjust(50)
      feed.accept(2, 1, "file")
      wake()
      yield* TestClock.adjust(50)
      assert.deepStrictEqual([own(), any()], [false, false])
      feed.accept(1, 1, "pull")
      wake()
      yield* TestClock.adjust(50)
      assert.deepStrictEqual([own(), any()], [false, true])
      feed.accept(1, 1, "file")
      yield* TestClock.adjust(500)
      assert.isFalse(own())
      yield* TestClock.adjust(600)
      assert.isTrue(own())
      // It waits again: the event that woke it does not wake it twice.
      const again = yield* sleeping(waiting.next)
      yield* TestClock.adjust("5 seconds")
      assert.isFalse(again())
    }).pipe(Effect.scoped, Effect.provide(feed.layer))
  },
)

it.effect("wakes completes if the database was set back or cannot be read", () => {
  const feed = new FeedInMemory()
  feed.accept(1, 5)
  return Effect.gen(function* () {
    const { wakes } = yield* FeedFollower
    const { next, end } = yield* wakes({ sourceId: 3, channel: null, sources: null }, FEED_START)
    assert.deepStrictEqual(end, feed.end)
    const setBack = yield* sleeping(next)
    feed.events = feed.events.slice(0, 3)
    yield* TestClock.adjust("2 seconds")
    assert.isTrue(setBack())
    const away = yield* sleeping(next)
    feed.isUnavailable = true
    yield* TestClock.adjust("2 seconds")
    assert.isTrue(away())
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("followers miss no event from while the database was unavailable, and do not notice the outage", () => {
  const feed = new FeedInMemory()
  return Effect.gen(function* () {
    const told = yield* following(ALL, beginning(ALL))
    feed.accept(1, 2)
    yield* TestClock.adjust("2 seconds")
    feed.isUnavailable = true
    feed.accept(1, 3)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(sumOf(told).events, 2)
    const refused = yield* Effect.flip((yield* FeedFollower).end(ALL))
    assert.deepInclude(refused, { _tag: "StoreUnavailable" })
    feed.isUnavailable = false
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(sumOf(told).events, 5)
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("FeedFollower has one reader while anybody waits, and none otherwise", () => {
  const feed = new FeedInMemory()
  return Effect.gen(function* () {
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(feed.looks, 0)
    const many = Effect.forEach(Array.from({ length: 100 }), () => following(ALL, beginning(ALL)))
    const all = yield* Effect.scoped(
      Effect.gen(function* () {
        const told = yield* many
        yield* TestClock.adjust("1 minute")
        feed.accept(1)
        yield* TestClock.adjust("5 seconds")
        return told
      }),
    )
    assert.deepStrictEqual(
      all.map((told) => sumOf(told).events),
      all.map(() => 1),
    )
    assert.isBelow(feed.looks, 100)
    yield* TestClock.adjust("10 seconds")
    const before = feed.looks
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(feed.looks, before)
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("FeedFollower reads less often with more followers, but at least every second", () => {
  const feed = new FeedInMemory()
  return Effect.gen(function* () {
    const { wake } = yield* FeedSignal
    const looksIn = Effect.fnUntraced(function* (count: number) {
      const { wakes } = yield* FeedFollower
      for (let n = 0; n < count; n++) yield* wakes({ ...ALL, sources: null }, FEED_START)
      yield* TestClock.adjust("1 second")
      const before = feed.looks
      for (let n = 0; n < 400; n++) {
        wake()
        yield* TestClock.adjust(10)
      }
      return feed.looks - before
    }, Effect.scoped)
    assert.isAbove(yield* looksIn(1), 100)
    const some = yield* looksIn(50)
    assert.isAbove(some, 12)
    assert.isAtMost(some, 21)
    assert.isAtLeast(yield* looksIn(2_000), 4)
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})

it.effect("FeedFollower notifies no follower that has left, and continues with the others", () => {
  const feed = new FeedInMemory()
  return Effect.gen(function* () {
    const stays = yield* following(ALL, beginning(ALL))
    const gone = yield* Effect.scoped(following(ALL, beginning(ALL)))
    feed.accept(1)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual([sumOf(stays).events, sumOf(gone).events], [1, 0])
  }).pipe(Effect.scoped, Effect.provide(feed.layer))
})
