import { setTimeout } from "node:timers/promises"
import { Items } from "@data-cabinet/core/pagination/Items"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Layer, Option, Result } from "effect"
import { assert, it } from "vitest"

const itemsOf = (texts: ReadonlyArray<string>): Items => {
  const bytes = Buffer.from(texts.join(","))
  let at = 0
  return new Items(
    bytes,
    0,
    texts.map((text) => (at += Buffer.byteLength(text) + (at === 0 ? 0 : 1))),
  )
}

/** A one-column table with these values, in pages of a thousand. */
const over = (column: string, values: ReadonlyArray<string>, delayMillis = 0) => {
  const page: SelectRows["Service"]["page"] = async ({ params }) => {
    const from = Number(params.find(([name]) => name === "cursor")?.[1] ?? 0)
    const texts = values.slice(from, from + 1000).map((value) => `{${JSON.stringify(column)}:${value}}`)
    const nextCursor = from + 1000 < values.length ? String(from + 1000) : null
    if (delayMillis > 0) await setTimeout(delayMillis)
    return Result.succeed({ items: itemsOf(texts), columns: [], hasMore: nextCursor !== null, nextCursor })
  }
  const table = Option.some({ detail: { columns: [{ name: column }] } })
  const ports = Layer.merge(
    Layer.succeed(SelectRows, { page }),
    Layer.succeed(Catalog, { find: () => Effect.succeed(table) } as unknown as Catalog["Service"]),
  )
  return <A, E>(use: (sample: SampleRows["Service"]) => Effect.Effect<A, E>) =>
    Effect.runPromise(Effect.provide(SampleRows.use(use), SampleRows.layer.pipe(Layer.provide(ports))))
}

const request = { schema: "s", name: "t", params: [] }

it("SampleRows.count is exact up to ten thousand rows, and reports when there are more", async () => {
  const rows = (count: number) => Array.from({ length: count }, () => "1")
  assert.deepStrictEqual(await over("a", [])((all) => all.count(request)), { count: 0, atLeast: false })
  assert.deepStrictEqual(await over("a", rows(2500))((all) => all.count(request)), { count: 2500, atLeast: false })
  assert.deepStrictEqual(await over("a", rows(10_000))((all) => all.count(request)), { count: 10_000, atLeast: false })
  assert.deepStrictEqual(await over("a", rows(12_000))((all) => all.count(request)), { count: 10_000, atLeast: true })
})

it("SampleRows returns after a second with the rows read so far", async () => {
  const rows = Array.from({ length: 9_000 }, () => "1")
  const { count, atLeast } = await over("a", rows, 450)((all) => all.count(request))
  assert.isTrue(atLeast)
  assert.isAtMost(count, 3_000)
})

it("SampleRows.facets counts values to the last digit, most frequent first, for any column name", async () => {
  const column = 'a"é\n:'
  const values = [
    "1000000001541251213",
    "1000000001541251214",
    "null",
    "1000000001541251213",
    JSON.stringify("x".repeat(2_000)),
  ]
  const found = await over(column, values)((all) => all.facets(request, column))
  assert.deepStrictEqual(found.values[0], { value: "1000000001541251213", count: 2 })
  assert.strictEqual(found.values.length, 3)
  assert.deepInclude(found, { others: 1, rows: 5, exact: true })
})
