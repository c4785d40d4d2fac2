import { Feed } from "@data-cabinet/core/feed/Feed"
import { writeCursor } from "@data-cabinet/core/feed/FeedParams"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Random, Seed } from "../intake/Random.ts"
import { FeedInMemory, KEY } from "./FeedInMemory.ts"

type Pairs = ReadonlyArray<readonly [string, string]>

const only = (...sources: ReadonlyArray<number>): ReadScopeOrAll => ({ sources: new Set(sources), objects: [] })

const over = (feed: FeedInMemory) => {
  const use = <A, E>(work: (feed: Feed["Service"]) => Effect.Effect<A, E>) =>
    Effect.runPromise(Effect.scoped(Effect.provide(Feed.use(work), feed.layer)))
  const page = async (params: Pairs, scope?: ReadScopeOrAll) => {
    const { items, ...rest } = await use(({ page: read }) => read(params, scope))
    const ids = items.texts().map((text) => (JSON.parse(text) as { readonly id: number }).id)
    return { ...rest, ids, cursors: rest.cursors?.() ?? [] }
  }
  const refusal = (params: Pairs, scope?: ReadScopeOrAll) => use(({ page: read }) => Effect.flip(read(params, scope)))
  return { use, page, refusal }
}

const mixed = () => {
  const feed = new FeedInMemory()
  for (let n = 0; n < 10; n++) {
    feed.accept(1 + (n % 2))
    feed.accept(2, 1, "file")
  }
  return feed
}

it("pages of any size return every event of the filter once, in order, and continue after any item", async () => {
  const feed = mixed()
  const { page } = over(feed)
  const filters: ReadonlyArray<Pairs> = [[], [["source_id", "1"]], [["channel", "file"]]]
  for (const [n, filter] of filters.entries()) {
    const limit = ["limit", String(3 + n)] as const
    const ids: Array<number> = []
    let cursor: string | undefined
    for (let hasMore = true; hasMore;) {
      const params = [...filter, limit, ...(cursor === undefined ? [] : [["cursor", cursor] as const])]
      const read = await page(params)
      assert.isAtMost(read.ids.length, 3 + n)
      assert.strictEqual(read.cursors.at(-1), read.nextCursor)
      ids.push(...read.ids)
      ;({ hasMore, nextCursor: cursor } = read)
    }
    const sourceId = n === 1 ? 1 : null
    const expected = feed.behind(FEED_START, { sourceId, channel: n === 2 ? "file" : null })
    assert.deepStrictEqual(
      ids,
      expected.map(({ place }) => place.id),
    )
    const { cursors } = await page([...filter, ["limit", "5"]])
    const after = await page([...filter, ["limit", "1"], ["cursor", cursors[2]!]])
    assert.deepStrictEqual(after.ids, ids.slice(3, 4))
  }
})

it("a reader at the end keeps its cursor, and continues from it", async () => {
  const feed = mixed()
  const { page } = over(feed)
  const { nextCursor } = await page([])
  const still = await page([["cursor", nextCursor]])
  assert.deepStrictEqual(still, { ids: [], hasMore: false, nextCursor, cursors: [] })
  feed.accept(3)
  assert.deepStrictEqual((await page([["cursor", nextCursor]])).ids, [21])
  assert.strictEqual(
    (await over(new FeedInMemory()).page([])).nextCursor,
    writeCursor(KEY, { sourceId: null, channel: null }, FEED_START),
  )
})

it.prop("a reader with a list gets only the events of its sources", [Seed], ([seed]) => {
  const random = new Random(seed)
  const feed = new FeedInMemory()
  for (let n = 0; n < 20; n++) feed.accept(1 + random.below(3))
  const allowed = [1, 2, 3].filter(() => random.below(2) === 0)
  const read = Feed.use(({ page }) => page([], only(...allowed))).pipe(Effect.provide(feed.layer), Effect.scoped)
  const { items } = Effect.runSync(read)
  const sources = items.texts().map((text) => (JSON.parse(text) as { readonly source_id: number }).source_id)
  assert.deepStrictEqual(
    sources,
    feed.events.map(({ sourceId }) => sourceId).filter((id) => allowed.includes(id)),
  )
})

it("a missing source and one that the reader may not read are refused in the same words", async () => {
  const { page, refusal } = over(mixed())
  const missing = await refusal([["source_id", "4"]])
  assert.deepInclude(missing, { code: "no_such_source", param: "source_id" })
  assert.deepStrictEqual(await refusal([["source_id", "9007199254740992"]]), missing)
  assert.deepStrictEqual(await refusal([["source_id", "2"]], only(1)), missing)
  assert.deepStrictEqual(await refusal([["source_id", "4"]], only(4)), missing)
  assert.lengthOf((await page([["source_id", "1"]], only(1))).ids, 5)
})

it("a start is a cursor of the requested filter", async () => {
  const { use, page, refusal } = over(mixed())
  const start = (params: Pairs, at: "now" | { readonly last: number }) => use((feed) => feed.start(params, at))
  const own: Pairs = [["source_id", "1"]]
  assert.deepStrictEqual((await page([["cursor", await start([], "now")]])).ids, [])
  assert.deepStrictEqual((await page([["cursor", await start([], { last: 2 })]])).ids, [19, 20])
  const cursor = await start(own, { last: 2 })
  assert.deepStrictEqual((await page([...own, ["cursor", cursor]])).ids, [13, 17])
  assert.deepInclude(await refusal([["cursor", cursor]]), { code: "bad_cursor" })
})

it("start refuses an invalid time, and returns a cursor even for an impossible source", async () => {
  const { use, refusal } = over(mixed())
  const times = ["2026-11-25", "now"].map((time) => use((feed) => Effect.flip(feed.start([], { time }))))
  for (const error of await Promise.all(times)) assert.deepInclude(error, { code: "bad_period", param: "from" })
  await use((feed) => feed.start([], { time: "2026-11-25T09:00:00Z" }))
  const unknown: Pairs = [["source_id", "9007199254740992"]]
  const cursor = await use((feed) => feed.start(unknown, "now"))
  assert.deepInclude(await refusal([...unknown, ["cursor", cursor]]), { code: "no_such_source" })
})
