/** Columns of types in a schema that the reader may not use, as in other programs' databases, and domains over types of every kind. */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Effect, Option, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { itemsOf, openReading, type Reading, walk } from "./reading.ts"

/** Each with values in the type's order. */
const TYPES: ReadonlyArray<readonly [name: string, type: string, values: ReadonlyArray<string>]> = [
  ["mood", "closed.mood", ["sad", "ok", "happy"]],
  ["pair", "closed.pair", ["(1,sad)", "(1,ok)", "(2,sad)"]],
  ["span", "closed.span", ["[1,2)", "[1,3)", "[2,3)"]],
  ["spans", "closed.multispan", ["{[1,2)}", "{[1,3)}", "{[2,3)}"]],
  ["moods", "closed.mood[]", ["{sad}", "{sad,ok}", "{happy}"]],
  ["pairs", "closed.pair[]", ['{"(1,sad)"}', '{"(1,ok)"}', '{"(2,sad)"}']],
  ["cit", "closed.citext", ["a", "B", "c"]],
  ["cits", "closed.citext[]", ["{a}", "{B}", "{c}"]],
  ["tree", "closed.ltree", ["a", "a.b", "b"]],
  ["store", "closed.hstore", ['"a"=>"1"', '"a"=>"1", "b"=>"2"', '"b"=>"1"']],
  ["d_mood", "closed.d_mood", ["sad", "ok", "happy"]],
  ["dd_mood", "closed.dd_mood", ["sad", "ok", "happy"]],
  ["d_moods", "closed.d_moods", ["{sad}", "{sad,ok}", "{happy}"]],
  ["of_d", "closed.d_mood[]", ["{sad}", "{sad,ok}", "{happy}"]],
  ["d_span", "closed.d_span", ["[1,2)", "[1,3)", "[2,3)"]],
  ["d_spans", "closed.d_spans", ["{[1,2)}", "{[1,3)}", "{[2,3)}"]],
  ["d_pair", "closed.d_pair", ["(1,sad)", "(1,ok)", "(2,sad)"]],
  ["d_cit", "closed.d_cit", ["a", "B", "c"]],
  ["d_int", "closed.d_int", ["1", "2", "10"]],
  ["dd_int", "closed.dd_int", ["1", "2", "10"]],
  ["d_text", "closed.d_text", ["a", "b", "c"]],
  ["d_day", "closed.d_day", ["2026-01-01", "2026-01-02", "2026-02-01"]],
  ["d_moment", "closed.d_moment", ["2026-01-01 00:00:00+00", "2026-01-02 00:00:00+00", "2026-02-01 00:00:00+00"]],
]

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  const { database, authorRole } = reading
  for (const statement of [
    `CREATE SCHEMA closed`,
    `GRANT USAGE ON SCHEMA closed TO "${authorRole}"`,
    ...["citext", "ltree", "hstore"].map((extension) => `CREATE EXTENSION ${extension} SCHEMA closed`),
    `CREATE TYPE closed.mood AS ENUM ('sad', 'ok', 'happy')`,
    `CREATE TYPE closed.pair AS (a int, m closed.mood)`,
    `CREATE TYPE closed.span AS RANGE (subtype = int, multirange_type_name = closed.multispan)`,
    `CREATE DOMAIN closed.d_mood AS closed.mood`,
    `CREATE DOMAIN closed.dd_mood AS closed.d_mood CHECK (value IS NOT NULL OR true)`,
    `CREATE DOMAIN closed.d_moods AS closed.mood[]`,
    `CREATE DOMAIN closed.d_span AS closed.span`,
    `CREATE DOMAIN closed.d_spans AS closed.multispan`,
    `CREATE DOMAIN closed.d_pair AS closed.pair`,
    `CREATE DOMAIN closed.d_cit AS closed.citext`,
    `CREATE DOMAIN closed.d_int AS int CHECK (value > 0)`,
    `CREATE DOMAIN closed.dd_int AS closed.d_int CHECK (value < 100)`,
    `CREATE DOMAIN closed.d_text AS text COLLATE "C"`,
    `CREATE DOMAIN closed.d_day AS date`,
    `CREATE DOMAIN closed.d_moment AS timestamptz`,
  ]) {
    await database.run(statement)
  }
  const columns = TYPES.map(([name, type]) => `${name} ${type}`).join(", ")
  await reading.run(`CREATE TABLE keyed (n int PRIMARY KEY, ${columns}, same int DEFAULT 1)`)
  await reading.run(`CREATE TABLE heap (n int, ${columns}, same int DEFAULT 1)`)
  const rows = [0, 1, 2].map(
    (at) => `(${at}, ${TYPES.map(([, type, values]) => `'${values[at]}'::${type}`).join(", ")})`,
  )
  const nulls = `(3, ${TYPES.map(() => "NULL").join(", ")})`
  await reading.run(`INSERT INTO keyed VALUES ${[...rows, nulls].join(", ")}`)
  await reading.run(`INSERT INTO heap SELECT * FROM keyed`)
  await reading.run(`CREATE VIEW seen AS SELECT * FROM keyed`)
})
afterAll(() => reading.close())

const numbers = (items: ReadonlyArray<string>): ReadonlyArray<number> => items.map((item) => JSON.parse(item).n)

const filter = (fc: string, fo: string, fv: string): ParamPairs => [
  ["fc", fc],
  ["fo", fo],
  ["fv", fv],
]

const found = async (name: string, params: ParamPairs) =>
  itemsOf(await reading.page(name, [...params, ["col", "n"]]))
    .map(({ n }) => Number(n))
    .toSorted((a, b) => a - b)

describe("a column of a type whose schema the reader may not use", () => {
  it.each(TYPES)("%s (%s) is filtered by every comparison", async (name, _, values) => {
    // Without a key only the order of rows differs, not what a filter finds.
    for (const object of ["keyed", "seen"]) {
      for (const [fo, expected] of [
        ["eq", [1]],
        ["ne", [0, 2, 3]],
        ["lt", [0]],
        ["le", [0, 1]],
        ["gt", [2]],
        ["ge", [1, 2]],
      ] as const) {
        expect(await found(object, filter(name, fo, values[1]!)), `${object} ${fo}`).toEqual(expected)
      }
      expect(await found(object, filter(name, "empty", ""))).toEqual([3])
      expect(await found(object, filter(name, "notempty", ""))).toEqual([0, 1, 2])
    }
    const either: ParamPairs = [...filter(name, "gt", values[1]!), ...filter(name, "empty", ""), ["fj", "or"]]
    expect(await found("keyed", either)).toEqual([2, 3])
  })

  it.each(TYPES)("%s (%s) is sorted through all pages in both directions", async (name) => {
    for (const [object, limit] of [
      ["keyed", "1"],
      ["heap", "2"],
      ["seen", "2"],
    ] as const) {
      for (const [dir, expected] of [
        ["asc", [0, 1, 2, 3]],
        ["desc", [2, 1, 0, 3]],
      ] as const) {
        const { items } = await walk(reading, object, [
          ["sort", name],
          ["dir", dir],
          ["limit", limit],
        ])
        expect(numbers(items), `${object} ${dir}`).toEqual(expected)
      }
    }
    const second: ParamPairs = [...new URLSearchParams(`sort=same&dir=asc&sort=${name}&dir=desc&limit=1&col=n`)]
    expect(numbers((await walk(reading, "keyed", second)).items)).toEqual([2, 1, 0, 3])
  })

  it("is found by contains and by a search in its displayed form", async () => {
    expect(await found("keyed", filter("mood", "contains", "APP"))).toEqual([2])
    expect(await found("keyed", filter("pair", "contains", '"m":"ok"'))).toEqual([1])
    expect(await found("keyed", filter("cit", "contains", "b"))).toEqual([1])
    expect(await found("seen", [["q", "a.B"]])).toEqual([1])
    expect(await found("heap", [["q", "happy"]])).toEqual([2])
  })

  it("can be a period's column as a domain over a date or a timestamp", async () => {
    for (const per of ["d_day", "d_moment"]) {
      const period: ParamPairs = [
        ["per", per],
        ["from", "2026-01-01"],
        ["to", "2026-01-02"],
      ]
      expect(await found("keyed", period)).toEqual([0, 1])
    }
  })

  it("is exported by the same selection", async () => {
    const params = [...filter("cit", "ge", "B"), ...filter("d_mood", "ge", "ok"), ["sort", "span"] as const]
    expect(await exported("keyed", params)).toEqual([1, 2])
    expect(await exported("seen", params)).toEqual([1, 2])
  })

  it("refuses values that its type cannot hold, as errors of fv", async () => {
    for (const [name, value] of [
      ["mood", "glad"],
      ["pair", "(1"],
      ["span", "[2,1]"],
      ["dd_mood", "glad"],
      ["d_int", "one"],
    ] as const) {
      for (const object of ["keyed", "seen"]) {
        expect(await reading.page(object, filter(name, "eq", value)), name).toMatchObject({
          failure: { code: "bad_fv", param: "fv" },
        })
      }
    }
  })

  it("uses an index on a domain over an enum", async () => {
    await reading.run(`CREATE TABLE many (n int PRIMARY KEY, d closed.dd_mood)`)
    await reading.run(
      `INSERT INTO many SELECT g, CASE WHEN g % 1000 = 0 THEN 'happy'::closed.mood ELSE 'sad' END FROM generate_series(1, 20000) g`,
    )
    await reading.run(`CREATE INDEX ON many (d)`)
    await reading.run(`ANALYZE many`)
    const query = await reading.runtime.runPromise(
      Effect.gen(function* () {
        const table = Option.getOrThrow(yield* Catalog.use(({ find }) => find("public", "many")))
        const selection = Result.getOrThrow(selectionParams(filter("d", "gt", "ok")))
        const plan = Result.getOrThrow(selectionPlan(selection, table, new CursorKey(Buffer.alloc(32))))
        return selectionSql(plan, "UTC")
      }),
    )
    const plan = await reading.run(`EXPLAIN ${query.text.replaceAll("$1", "'ok'")}`)
    expect(JSON.stringify(plan)).toContain("Index Cond")
  })
})

describe("a value that may not be read", () => {
  it("fails the query as a fault of the database, not of the client", async () => {
    await reading.run(`CREATE FUNCTION secret(text) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'no access'; END $$`)
    await reading.run(`CREATE DOMAIN guarded AS text CHECK (secret(value))`)
    await reading.run(`CREATE TYPE holder AS (g guarded)`)
    await reading.run(`CREATE TABLE held (n int PRIMARY KEY, h holder)`)
    expect(await reading.page("held", filter("h", "eq", "(x)"))).toMatchObject({ failure: { code: "query_failed" } })
  })
})

const exported = (name: string, params: ParamPairs): Promise<ReadonlyArray<number>> =>
  reading.runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const rows = yield* ExportRows.use((exports) => exports.open({ schema: "public", name, params, live: false }))
        const items = yield* Effect.promise(async () => {
          const read: Array<string> = []
          for await (const batch of rows.batches) read.push(...batch.texts())
          return read
        })
        return numbers(items)
      }),
    ),
  )
