import { type ExportRequest, ExportRows } from "@data-cabinet/core/export/ExportRows"
import { type OpenedSnapshot, RowSnapshots } from "@data-cabinet/core/export/RowSnapshots"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { ReadError, RefusedValue, StaleObject } from "@data-cabinet/core/row/ReadError"
import type { PageQuery } from "@data-cabinet/core/row/RowReader"
import { type RowsPage, type RowsRequest, SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Result, Scope } from "effect"
import { tableOf } from "../selection/tables.ts"
import { itemsOf, readAll } from "./exampleItems.ts"

const REQUEST: ExportRequest = { schema: "public", name: "things", params: [["q", "x"]], live: false }

const busy = new ReadError({ code: "query_timeout", message: "late", retryAfter: 1 })
const stale = Result.fail(new StaleObject())

const COLUMNS = [{ name: "id", type: "bigint", label: "id", comment: null }]

const pageOf = (nextCursor: string | null, ...texts: ReadonlyArray<string>): RowsPage => ({
  items: itemsOf(...texts),
  columns: COLUMNS,
  hasMore: nextCursor !== null,
  nextCursor,
})

/** Rows that are read page by page; after the last of these pages, reading fails. */
const walked = (...pages: ReadonlyArray<RowsPage>) => {
  const asked: Array<RowsRequest> = []
  const rows = Layer.succeed(SelectRows, {
    page: async (request) => {
      asked.push(request)
      const page = pages[asked.length - 1]
      return page === undefined ? Result.fail(busy) : Result.succeed(page)
    },
  })
  return { asked, layer: Layer.provide(ExportRows.layerOfPages, rows) }
}

const table = tableOf({ id: "number!", note: "text" }, { key: ["id"] })
const digits = { precision: 10, scale: 2 }

/** A table whose snapshot is opened with these results; the last one repeats. */
const snapshotted = (...attempts: ReadonlyArray<OpenedSnapshot>) => {
  const queries: Array<PageQuery> = []
  const found: Array<unknown> = []
  const columns = table.columns.map((column) => (column.name === "id" ? { ...column, declared: digits } : column))
  const catalog = Layer.mock(Catalog, {
    cached: () => undefined,
    find: (schema, name) => {
      found.push([schema, name])
      return Effect.succeed(name === "things" ? Option.some({ ...table, columns }) : Option.none())
    },
  })
  const reader = Layer.succeed(RowSnapshots, {
    open: async (query) => {
      queries.push(query)
      return attempts[Math.min(queries.length, attempts.length) - 1]!
    },
  })
  const rows = Layer.succeed(SelectRows, { page: async () => Result.succeed(pageOf(null, '{"live":true}')) })
  const keys = Layer.succeed(CursorKeys, { key: Effect.succeed(new CursorKey(Buffer.alloc(32))) })
  return { queries, found, layer: Layer.provide(ExportRows.layer, [catalog, reader, rows, keys]) }
}

/** A snapshot of these batches, of which the last may be the error that ends it early; `closed` counts its releases. */
const snapshotOf = (...batches: ReadonlyArray<ReadonlyArray<string> | ReadError>) => {
  const left = [...batches]
  const told = { closed: 0 }
  const next = async () => {
    const batch = left.shift()
    if (batch instanceof ReadError) return Result.fail(batch)
    return Result.succeed(batch === undefined ? null : itemsOf(...batch))
  }
  return { told, opened: Result.succeed({ next, close: () => void told.closed++ }) }
}

const refusalOf = (layer: Layer.Layer<ExportRows>, request: Partial<ExportRequest> = {}): Promise<object> =>
  ExportRows.use(({ open }) => open({ ...REQUEST, ...request })).pipe(
    Effect.flip,
    Effect.provide(layer),
    Effect.scoped,
    Effect.runPromise,
  )

it.effect("ExportRows follows cursors to the end with the same selection", () =>
  Effect.gen(function* () {
    const { asked, layer } = walked(pageOf("a", '{"id":1}', '{"id":2}'), pageOf("b"), pageOf(null, '{"id":3}'))
    const rows = yield* ExportRows.use(({ open }) => open(REQUEST)).pipe(Effect.provide(layer))
    assert.isFalse(rows.isSnapshot)
    assert.deepStrictEqual([rows.columns, rows.declared], [COLUMNS, []])
    const read = yield* Effect.promise(() => readAll(rows.batches))
    assert.deepStrictEqual(read, { texts: ['{"id":1}', '{"id":2}', '{"id":3}'] })
    const first: ExportRequest["params"] = [
      ["q", "x"],
      ["limit", "1000"],
    ]
    assert.deepStrictEqual(
      asked.map(({ params }) => params),
      [first, [...first, ["cursor", "a"]], [...first, ["cursor", "b"]]],
    )
  }).pipe(Effect.scoped),
)

it.effect("ExportRows ends incomplete rows with an error", () =>
  Effect.gen(function* () {
    const { layer } = walked(pageOf("a", '{"id":1}'))
    const rows = yield* ExportRows.use(({ open }) => open(REQUEST)).pipe(Effect.provide(layer))
    const { texts, ended } = yield* Effect.promise(() => readAll(rows.batches))
    assert.deepStrictEqual(texts, ['{"id":1}'])
    assert.strictEqual(String(ended), String(busy))
    const { opened } = snapshotOf(['{"id":1}'], busy)
    const snapshot = yield* ExportRows.use(({ open }) => open(REQUEST)).pipe(Effect.provide(snapshotted(opened).layer))
    const early = yield* Effect.promise(() => readAll(snapshot.batches))
    assert.deepStrictEqual(early, { texts: ['{"id":1}'], ended: busy })
  }).pipe(Effect.scoped),
)

it.effect("ExportRows reads a snapshot of one moment, and releases it with its scope", () =>
  Effect.gen(function* () {
    const { told, opened } = snapshotOf(['{"id":1}', '{"id":2}'], ['{"id":3}'])
    const { queries, layer } = snapshotted(opened)
    const scope = yield* Scope.make()
    const rows = yield* ExportRows.use(({ open }) => open(REQUEST)).pipe(
      Effect.provide(layer),
      Effect.provideService(Scope.Scope, scope),
    )
    assert.isTrue(rows.isSnapshot)
    assert.deepStrictEqual(
      rows.columns.map(({ name }) => name),
      ["id", "note"],
    )
    assert.deepStrictEqual(rows.declared, [digits, null])
    const read = yield* Effect.promise(() => readAll(rows.batches))
    assert.deepStrictEqual(read, { texts: ['{"id":1}', '{"id":2}', '{"id":3}'] })
    // No table has this many rows.
    assert.isAbove(queries[0]!.limit, 2 ** 52)
    assert.strictEqual(told.closed, 0)
    yield* Scope.close(scope, Exit.void)
    assert.strictEqual(told.closed, 1)
  }),
)

it.effect("ExportRows looks up a changing object up to three times", () =>
  Effect.gen(function* () {
    const { opened } = snapshotOf(['{"id":1}'])
    const late = snapshotted(stale, stale, opened)
    yield* ExportRows.use(({ open }) => open(REQUEST)).pipe(Effect.provide(late.layer))
    assert.strictEqual(late.found.length, 3)
    const never = snapshotted(stale)
    const refused = yield* Effect.promise(() => refusalOf(never.layer))
    assert.deepInclude(refused, { code: "table_busy", retryAfter: 2 })
    assert.strictEqual(never.queries.length, 3)
  }).pipe(Effect.scoped),
)

it.effect("ExportRows reads live rows page by page, even if a snapshot is possible", () =>
  Effect.gen(function* () {
    const { queries, layer } = snapshotted(stale)
    const rows = yield* ExportRows.use(({ open }) => open({ ...REQUEST, live: true })).pipe(Effect.provide(layer))
    assert.deepStrictEqual(yield* Effect.promise(() => readAll(rows.batches)), { texts: ['{"live":true}'] })
    assert.deepStrictEqual([rows.isSnapshot, queries], [false, []])
  }).pipe(Effect.scoped),
)

it.each(["limit", "cursor"])("an export has all rows: %s is refused before anything is looked up", async (name) => {
  const params = [
    ["q", "x"],
    [name, "1"],
  ] as const
  const snapshot = snapshotted(stale)
  const pages = walked()
  for (const { layer } of [snapshot, pages])
    assert.deepInclude(await refusalOf(layer, { params }), { code: "unknown_param", param: name })
  assert.deepStrictEqual([snapshot.found, pages.asked], [[], []])
})

it("ExportRows refuses an invalid selection before the first row", async () => {
  const { found, layer } = snapshotted(stale)
  assert.deepInclude(await refusalOf(layer, { params: [["nothing", "1"]] }), { code: "unknown_param" })
  assert.deepStrictEqual(found, [])
  assert.deepInclude(await refusalOf(layer, { name: "gone" }), { code: "no_such_table" })
  assert.deepInclude(await refusalOf(layer, { params: [["sort", "gone"]] }), { code: "unknown_column" })
  const read = snapshotted(Result.fail(busy))
  assert.deepInclude(await refusalOf(read.layer), { code: "query_timeout" })
  assert.strictEqual(read.queries.length, 1)
  const filter = [
    ["fc", "id"],
    ["fo", "gt"],
    ["fv", "1"],
  ] as const
  const refused = snapshotted(Result.fail(new RefusedValue({ index: 0, message: "out of range" })))
  assert.deepInclude(await refusalOf(refused.layer, { params: filter }), { code: "bad_fv", param: "fv" })
})
