import { writeCursor } from "@data-cabinet/core/feed/FeedParams"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { behind, FollowFeed, type FollowOptions } from "@data-cabinet/core/feed/FollowFeed"
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { FeedInMemory, KEY } from "./FeedInMemory.ts"

type Pairs = ReadonlyArray<readonly [string, string]>

const only = (...sources: ReadonlyArray<number>): ReadScopeOrAll => ({ sources: new Set(sources), objects: [] })

const at = (feed: FeedInMemory, sourceId: number | null = null): Pairs => [
  ["cursor", writeCursor(KEY, { sourceId, channel: null }, feed.end)],
  ...(sourceId === null ? [] : [["source_id", String(sourceId)] as const]),
]

/** Reads in the background; returns the page and after how long it arrived. */
const reading = <E>(params: Pairs, options: FollowOptions<E>) =>
  FollowFeed.use(({ next }) => next(params, options)).pipe(
    Effect.map(({ page, waitedMillis }) => ({
      ids: page.items.texts().map((text) => (JSON.parse(text) as { readonly id: number }).id),
      cursor: page.nextCursor,
      waitedMillis,
    })),
    Effect.forkChild({ startImmediately: true }),
  )

const over = <A, E>(feed: FeedInMemory, work: Effect.Effect<A, E, FollowFeed | FeedSignal>) =>
  Effect.scoped(Effect.provide(work, feed.layer))

it.effect("a page with events returns at once, and so does an empty one if its reader does not wait", () => {
  const feed = new FeedInMemory()
  feed.accept(1, 3)
  return over(
    feed,
    Effect.gen(function* () {
      const start: Pairs = [["cursor", writeCursor(KEY, { sourceId: null, channel: null }, FEED_START)]]
      const full = yield* Fiber.join(yield* reading([["limit", "2"], ...start], { waitMillis: 1_000 }))
      assert.deepInclude(full, { ids: [1, 2], waitedMillis: 0 })
      const rest = yield* Fiber.join(yield* reading([["cursor", full.cursor]], { waitMillis: 1_000 }))
      assert.deepInclude(rest, { ids: [3], waitedMillis: 0 })
      const empty = yield* Fiber.join(yield* reading(at(feed), { waitMillis: 0 }))
      assert.deepInclude(empty, { ids: [], waitedMillis: 0, cursor: at(feed)[0]![1] })
    }),
  )
})

it.effect("a waiting reader gets new events as soon as they arrive, or an empty page when its time is up", () => {
  const feed = new FeedInMemory()
  feed.accept(1, 3)
  return over(
    feed,
    Effect.gen(function* () {
      const { wake } = yield* FeedSignal
      const fiber = yield* reading(at(feed), { waitMillis: 10_000 })
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      feed.accept(2)
      wake()
      yield* TestClock.adjust(50)
      const came = yield* Fiber.join(fiber)
      assert.deepStrictEqual(came.ids, [4])
      assert.isAtLeast(came.waitedMillis, 4_000)
      assert.isAtMost(came.waitedMillis, 4_050)
      const late = yield* reading(at(feed), { waitMillis: 10_000 })
      yield* TestClock.adjust(9_999)
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(late), { ids: [], cursor: at(feed)[0]![1], waitedMillis: 10_000 })
    }),
  )
})

it.effect("events of other sources neither end nor extend a wait", () => {
  const feed = new FeedInMemory()
  return over(
    feed,
    Effect.gen(function* () {
      const { wake } = yield* FeedSignal
      const own = yield* reading(at(feed, 1), { waitMillis: 10_000 })
      const listed = yield* reading(at(feed), { waitMillis: 10_000, scope: only(1, 3) })
      for (let n = 0; n < 9; n++) {
        feed.accept(2)
        wake()
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual([own.pollUnsafe(), listed.pollUnsafe()], [undefined, undefined])
      feed.accept(3)
      wake()
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(own), { ids: [], waitedMillis: 10_000 })
      assert.deepStrictEqual((yield* Fiber.join(listed)).ids, [10])
    }),
  )
})

it.effect("FollowFeed checks a reader's scope again before it returns new events", () => {
  const feed = new FeedInMemory()
  return over(
    feed,
    Effect.gen(function* () {
      let scope = only(1)
      const again = Effect.suspend(() => (scope === null ? Effect.fail("revoked") : Effect.succeed(scope)))
      const narrowed = yield* reading(at(feed), { waitMillis: 5_000, scope, again })
      scope = only(2)
      feed.accept(1)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual((yield* Fiber.join(narrowed)).ids, [])
      const revoked = yield* reading(at(feed), { waitMillis: 5_000, scope, again })
      scope = null
      feed.accept(2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Effect.flip(Fiber.join(revoked)), "revoked")
    }),
  )
})

it.effect("a stopping server keeps no reader waiting", () => {
  const feed = new FeedInMemory()
  return over(
    feed,
    Effect.gen(function* () {
      const leave = Latch.makeUnsafe(false)
      const fiber = yield* reading(at(feed), { waitMillis: 60_000, leave })
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      leave.openUnsafe()
      assert.deepInclude(yield* Fiber.join(fiber), { ids: [], waitedMillis: 2_000 })
      const after = yield* Fiber.join(yield* reading(at(feed), { waitMillis: 60_000, leave }))
      assert.deepInclude(after, { ids: [], waitedMillis: 0 })
    }),
  )
})

it.effect("FollowFeed refuses a deleted or impossible source instead of waiting", () => {
  const feed = new FeedInMemory()
  return over(
    feed,
    Effect.gen(function* () {
      for (const id of ["4", "9007199254740992"]) {
        const fiber = yield* reading([["source_id", id]], { waitMillis: 60_000 })
        assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { code: "no_such_source" })
      }
      const wrong = yield* reading([["limit", "0"]], { waitMillis: 60_000 })
      assert.deepInclude(yield* Effect.flip(Fiber.join(wrong)), { code: "bad_limit" })
    }),
  )
})

it.effect(
  "readers waiting at one position share one read of the page, but those with another list get their own",
  () => {
    const feed = new FeedInMemory()
    return over(
      feed,
      Effect.gen(function* () {
        const { wake } = yield* FeedSignal
        const scopes = Array.from({ length: 60 }, (_, n) => [null, only(1), only(2)][n % 3]!)
        const fibers = yield* Effect.forEach(scopes, (scope) => reading(at(feed), { waitMillis: 10_000, scope }))
        yield* TestClock.adjust("1 second")
        // A reader at the end of the feed reads nothing until an event arrives.
        assert.strictEqual(feed.pages, 0)
        feed.accept(1)
        feed.accept(2)
        wake()
        yield* TestClock.adjust("1 second")
        const found = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
        for (const [n, { ids }] of found.entries()) assert.deepStrictEqual(ids, [[1, 2], [1], [2]][n % 3])
        assert.isAtMost(feed.pages, 6)
      }),
    )
  },
)

it("behind changes nothing but the cursor", () => {
  const params: Pairs = [
    ["cursor", "a"],
    ["source_id", "1"],
    ["limit", "5"],
  ]
  assert.deepStrictEqual(
    new Map(behind(params, "b")),
    new Map([
      ["source_id", "1"],
      ["limit", "5"],
      ["cursor", "b"],
    ]),
  )
  assert.lengthOf(behind(params, "b"), 3)
})
