/**
 * A result that an agent can hold: as many items as fit. A caller that continues gets all items except those that never
 * fit.
 */
import { boundedPage, howManyFit, MAX_RESULT_BYTES } from "@data-cabinet/core/agent/BoundedItems"
import { Items } from "@data-cabinet/core/pagination/Items"
import type { Page } from "@data-cabinet/core/pagination/Page"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const itemsOf = (texts: ReadonlyArray<string>) => {
  const ends: Array<number> = []
  let end = -1
  for (const text of texts) ends.push((end += 1 + Buffer.byteLength(text)))
  return new Items(Buffer.from(texts.join(",")), 0, ends)
}

/** A walk over all items, each page from its cursor. */
const walk = (all: ReadonlyArray<string>, usual: number) => {
  const got: Array<string> = []
  const omitted: Array<number> = []
  const limits: Array<number | null> = []
  let at: number | null = 0
  while (at !== null) {
    const from: number = at
    const read = (limit: number | null): Effect.Effect<Page> =>
      Effect.sync(() => {
        limits.push(limit)
        const end = Math.min(all.length, from + (limit ?? usual))
        const hasMore = end < all.length
        return { items: itemsOf(all.slice(from, end)), hasMore, nextCursor: hasMore ? String(end) : null }
      })
    const page = Effect.runSync(boundedPage(read))
    assert.isAtMost(Buffer.byteLength(page.texts.join(",")), MAX_RESULT_BYTES)
    assert.strictEqual(page.hasMore, page.nextCursor !== null)
    if (page.omittedBytes !== undefined) omitted.push(page.omittedBytes)
    got.push(...page.texts)
    at = page.nextCursor === null ? null : Number(page.nextCursor)
  }
  return { got, omitted, limits }
}

it("howManyFit counts bytes, including separators", () => {
  const half = "x".repeat(MAX_RESULT_BYTES / 2 - 1)
  assert.strictEqual(howManyFit([half, half]), 2)
  assert.strictEqual(howManyFit([half, half, ""]), 2)
  assert.strictEqual(howManyFit([half, `${half}x`]), 1)
  assert.strictEqual(howManyFit(["é".repeat(MAX_RESULT_BYTES / 2)]), 0)
  assert.strictEqual(howManyFit([]), 0)
})

it.prop(
  "boundedPage loses nothing but an item that never fits, and reports its size",
  [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))).check(Schema.isMaxLength(40))],
  ([sizes]) => {
    const all = sizes.map((size, n) => `${n} ${"é".repeat(size * 1_000)}`)
    const isLong = (text: string) => Buffer.byteLength(text) + 1 > MAX_RESULT_BYTES
    const { got, omitted } = walk(all, 10)
    assert.deepStrictEqual(
      got,
      all.filter((text) => !isLong(text)),
    )
    assert.deepStrictEqual(
      omitted,
      all.filter(isLong).map((text) => Buffer.byteLength(text)),
    )
  },
  { arbitrary: { runs: 30 } },
)

it("boundedPage reads once if everything fits, and otherwise once more", () => {
  assert.deepStrictEqual(walk(["a", "b", "c"], 3).limits, [null])
  const long = "x".repeat(MAX_RESULT_BYTES)
  assert.deepStrictEqual(walk(["a", "b", long], 3).limits, [null, 2, null, 1])
})
