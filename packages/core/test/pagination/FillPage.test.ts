import { fillPage, type Slice } from "@data-cabinet/core/pagination/FillPage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

/** The numbers below `count`, read in slices of at most 10 that keep the even ones. */
const evenBelow =
  (count: number, asked: Array<readonly [number | null, number]> = []) =>
  (after: number | null, limit: number): Effect.Effect<Slice<number, number>> =>
    Effect.sync(() => {
      asked.push([after, limit])
      const from = after ?? 0
      const to = Math.min(from + 10, count)
      const found: Array<number> = []
      let at = from
      for (; at < to && found.length < limit; at++) if (at % 2 === 0) found.push(at)
      return { found, next: at === count ? null : at, reached: at === from ? null : `looked at ${at - 1}` }
    })

describe("fillPage", () => {
  it.effect("reads slices until the page is full, each for the missing rest", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [number | null, number]> = []
      const page = yield* fillPage({ limit: 12, after: null, slice: evenBelow(100, asked) })
      assert.deepStrictEqual(page, {
        items: [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22],
        next: 23,
        searchedTo: "looked at 22",
      })
      assert.deepStrictEqual(asked, [
        [null, 12],
        [10, 7],
        [20, 2],
      ])
      const full = yield* fillPage({ limit: 5, after: 10, slice: evenBelow(100, asked) })
      assert.deepStrictEqual(full, { items: [10, 12, 14, 16, 18], next: 19, searchedTo: "looked at 18" })
      assert.lengthOf(asked, 4)
    }),
  )

  it.effect("ends with the list", () =>
    Effect.gen(function* () {
      const page = yield* fillPage({ limit: 12, after: 90, slice: evenBelow(95) })
      assert.deepStrictEqual(page, { items: [90, 92, 94], next: null, searchedTo: null })
    }),
  )

  it.effect("ends with the slice that reaches the size limit, if one does", () =>
    Effect.gen(function* () {
      const sizes = { limit: 50, after: null, slice: evenBelow(100), sizeOf: () => 2 }
      assert.lengthOf((yield* fillPage({ ...sizes, maxSize: 20 })).items, 10)
      assert.lengthOf((yield* fillPage({ ...sizes, maxSize: 21 })).items, 15)
      assert.lengthOf((yield* fillPage(sizes)).items, 50)
      assert.lengthOf((yield* fillPage({ limit: 50, after: null, slice: evenBelow(100), maxSize: 1 })).items, 50)
    }),
  )

  it.effect("ends after a second, with at least one slice", () =>
    Effect.gen(function* () {
      const slice = (millis: number) => (after: number | null, limit: number) =>
        Effect.andThen(TestClock.adjust(millis), evenBelow(100)(after, limit))
      const page = (millis: number) => fillPage({ limit: 50, after: null, slice: slice(millis) })
      assert.deepStrictEqual((yield* page(5_000)).next, 10)
      assert.deepStrictEqual((yield* page(5_000)).searchedTo, "looked at 9")
      assert.deepStrictEqual((yield* page(500)).next, 20)
      assert.deepStrictEqual((yield* page(499)).next, 30)
    }),
  )

  it.effect("reports how far it searched, and null after searching everything", () =>
    Effect.gen(function* () {
      const slice = (after: number | null) =>
        Effect.as(TestClock.adjust(600), {
          found: [] as ReadonlyArray<number>,
          next: after === 3 ? null : (after ?? 0) + 1,
          // Nothing is examined after the second.
          reached: (after ?? 0) < 2 ? `time ${after ?? 0}` : null,
        })
      const page = (after: number | null) => fillPage({ limit: 5, after, slice })
      assert.deepStrictEqual(yield* page(null), { items: [], next: 2, searchedTo: "time 1" })
      assert.deepStrictEqual(yield* page(1), { items: [], next: 3, searchedTo: "time 1" })
      assert.deepStrictEqual(yield* page(2), { items: [], next: null, searchedTo: null })
    }),
  )
})
