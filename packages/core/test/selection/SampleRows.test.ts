import { Items } from "@data-cabinet/core/pagination/Items"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"

const itemsOf = (texts: ReadonlyArray<string>): Items => {
  const bytes = Buffer.from(texts.join(","))
  let at = 0
  return new Items(
    bytes,
    0,
    texts.map((text) => (at += Buffer.byteLength(text) + (at === 0 ? 0 : 1))),
  )
}

/** A one-column table with these values, in pages of a thousand, the first of which after `stuck` never comes. */
const over = (
  column: string,
  values: ReadonlyArray<string>,
  stuck?: { readonly after: number; readonly begun: () => void },
) => {
  const page: SelectRows["Service"]["page"] = async ({ params }, call) => {
    const from = Number(params.find(([name]) => name === "cursor")?.[1] ?? 0)
    if (from === stuck?.after) {
      stuck.begun()
      await new Promise<void>((resolve) => call.onAbort(resolve))
    }
    const texts = values.slice(from, from + 1000).map((value) => `{${JSON.stringify(column)}:${value}}`)
    const nextCursor = from + 1000 < values.length ? String(from + 1000) : null
    return Result.succeed({ items: itemsOf(texts), columns: [], hasMore: nextCursor !== null, nextCursor })
  }
  const table = Option.some({ detail: { columns: [{ name: column }] } })
  const ports = Layer.merge(
    Layer.succeed(SelectRows, { page }),
    Layer.succeed(Catalog, { find: () => Effect.succeed(table) } as unknown as Catalog["Service"]),
  )
  return <A, E>(use: (sample: SampleRows["Service"]) => Effect.Effect<A, E>) =>
    Effect.provide(SampleRows.use(use), SampleRows.layer.pipe(Layer.provide(ports)))
}

const request = { schema: "s", name: "t", params: [] }
const rows = (count: number) => Array.from({ length: count }, () => "1")

it.effect("SampleRows.count is exact up to ten thousand rows, and reports when there are more", () =>
  Effect.gen(function* () {
    const count = (values: ReadonlyArray<string>) => over("a", values)((all) => all.count(request))
    assert.deepStrictEqual(yield* count([]), { count: 0, atLeast: false })
    assert.deepStrictEqual(yield* count(rows(2500)), { count: 2500, atLeast: false })
    assert.deepStrictEqual(yield* count(rows(10_000)), { count: 10_000, atLeast: false })
    assert.deepStrictEqual(yield* count(rows(12_000)), { count: 10_000, atLeast: true })
  }),
)

it.effect("SampleRows returns after a second with the rows read so far", () =>
  Effect.gen(function* () {
    const begun = Promise.withResolvers<void>()
    const counting = over("a", rows(9_000), { after: 2_000, begun: begun.resolve })((all) => all.count(request))
    const fiber = yield* Effect.forkChild(counting, { startImmediately: true })
    yield* Effect.promise(() => begun.promise)
    yield* TestClock.adjust("999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(fiber), { count: 2_000, atLeast: true })
  }),
)

it.effect("SampleRows.facets counts values to the last digit, most frequent first, for any column name", () =>
  Effect.gen(function* () {
    const column = 'a"é\n:'
    const values = [
      "1000000001541251213",
      "1000000001541251214",
      "null",
      "1000000001541251213",
      JSON.stringify("x".repeat(2_000)),
    ]
    const found = yield* over(column, values)((all) => all.facets(request, column))
    assert.deepStrictEqual(found.values[0], { value: "1000000001541251213", count: 2 })
    assert.strictEqual(found.values.length, 3)
    assert.deepInclude(found, { others: 1, rows: 5, exact: true })
  }),
)
