import { Catalog, type ReadableTable } from "@data-cabinet/core/row/Catalog"
import { ColumnProfile } from "@data-cabinet/core/row/ColumnProfile"
import { mayDraw, PictureColumns } from "@data-cabinet/core/selection/PictureColumns"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { openReading, type Reading } from "./reading.ts"

const ROWS = 4_000

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await reading.run(
    // PostgreSQL is not to analyze it by itself before the test has seen it without statistics.
    `CREATE TABLE sales (id int PRIMARY KEY, state text, total numeric, at timestamptz, data jsonb, tags text[], note text)
      WITH (autovacuum_enabled = off)`,
  )
  await reading.run(
    `INSERT INTO sales SELECT g, CASE WHEN g % 4 = 0 THEN 'it''s "open", {so}' ELSE 'paid' END, g % 100 / 4.0,
      '2026-01-01'::timestamptz + g * interval '1 hour', '{"a":1}', '{x,y}', NULL FROM generate_series(1, ${ROWS}) g`,
  )
})
afterAll(() => reading.close())

const find = async (name: string): Promise<ReadableTable> =>
  Option.getOrThrow(await reading.runtime.runPromise(Catalog.use((catalog) => catalog.find("public", name))))

const allOf = (table: ReadableTable) => table.columns.map(({ name }) => name)

const pictures = async (name: string, most: number, params: ParamPairs = []) => {
  const table = await find(name)
  return reading.runtime.runPromise(
    PictureColumns.use((all) => all.pictures({ table, params, columns: allOf(table), most })),
  )
}

const statistics = async (name: string) => {
  const table = await find(name)
  return reading.runtime.runPromise(ColumnProfile.use((profile) => profile.statistics(table, allOf(table))))
}

it("a large table is drawn from its statistics, one without them and a filtered one from rows", async () => {
  assert.isTrue(Option.isNone(await statistics("sales")))
  assert.deepInclude(await pictures("sales", 1_000), { basis: "first", rows: 1_000 })
  await reading.run("ANALYZE sales")
  const drawn = await pictures("sales", 1_000)
  assert.deepInclude(drawn, { basis: "statistics", rows: ROWS })
  assert.match(drawn.at ?? "", /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const of = (name: string) => drawn.columns.find(({ column }) => column === name)!
  assert.deepStrictEqual(of("state").values, [
    { value: "paid", rows: 3_000 },
    { value: 'it\'s "open", {so}', rows: 1_000 },
  ])
  assert.deepInclude(of("note"), { empty: ROWS, distinct: 0 })
  assert.deepInclude(of("id"), { distinct: ROWS, beyond: 0 })
  assert.isAtLeast(of("at").bars.length, 12)
  assert.deepStrictEqual([of("data").values, of("tags").values], [[], []])
  const filtered: ParamPairs = [
    ["fc", "state"],
    ["fo", "eq"],
    ["fv", "paid"],
    ["sort", "id"],
  ]
  assert.deepInclude(await pictures("sales", ROWS, filtered), { basis: "all", rows: 3_000 })
  assert.deepInclude(await pictures("sales", ROWS), { basis: "all", rows: ROWS })
})

it("statistics of a table with row policies are not shown", async () => {
  await reading.run("CREATE TABLE secrets AS SELECT g AS id, 'name ' || g % 3 AS name FROM generate_series(1, 3000) g")
  await reading.run("ANALYZE secrets")
  assert.isTrue(Option.isSome(await statistics("secrets")))
  await reading.run("ALTER TABLE secrets ENABLE ROW LEVEL SECURITY")
  assert.isTrue(Option.isNone(await statistics("secrets")))
  assert.deepInclude(await pictures("secrets", 1_000), { basis: "all", rows: 0 })
})

it("nothing is drawn unasked where a function of the customer could run", async () => {
  await reading.run("CREATE VIEW seen AS SELECT id, state FROM sales")
  await reading.run("CREATE TYPE mood AS ENUM ('good', 'bad')")
  await reading.run("CREATE TABLE moods (id int PRIMARY KEY, mood mood)")
  const may = async (name: string, columns: ReadonlyArray<string>, params: ParamPairs = []) =>
    mayDraw({ table: await find(name), params, columns })
  assert.isTrue(await may("sales", ["id", "state"], [["q", "paid"]]))
  assert.isFalse(await may("seen", ["id"]))
  assert.isFalse(await may("secrets", ["id"]))
  assert.isTrue(await may("moods", ["id"]))
  assert.isFalse(await may("moods", ["id", "mood"]))
  assert.isFalse(
    await may(
      "moods",
      ["id"],
      [
        ["fc", "mood"],
        ["fo", "eq"],
        ["fv", "good"],
      ],
    ),
  )
  assert.isFalse(await may("moods", ["id"], [["q", "x"]]))
  assert.deepInclude(await pictures("seen", 1_000), { basis: "first", rows: 1_000 })
})
