/**
 * Walks for every kind of row identity: complete, in both directions, with and without filters, in pages of any size.
 */
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openReading, type Reading, walk } from "./reading.ts"

/** Wide enough that the rows span several block ranges. */
const ROWS = 700
const FILLED = "n int, k int, t text, filler text"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  const fill = (name: string, from = 1, to = ROWS) =>
    reading.run(
      `INSERT INTO ${name} SELECT g, g % 3, CASE WHEN g % 5 > 0 THEN 'text ' || g % 4 END, repeat('x', 1500) FROM generate_series(${from}, ${to}) g`,
    )
  await reading.run(`CREATE TABLE keyed (${FILLED}, PRIMARY KEY (n))`)
  await reading.run(`CREATE TABLE two_keys (${FILLED}, PRIMARY KEY (k, n))`)
  await reading.run(`CREATE TABLE heap (${FILLED})`)
  await reading.run(`CREATE TABLE parted (${FILLED}) PARTITION BY LIST (k)`)
  await reading.run(`CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0)`)
  await reading.run(`CREATE TABLE parted_1 PARTITION OF parted DEFAULT PARTITION BY RANGE (n)`)
  await reading.run(`CREATE TABLE parted_1a PARTITION OF parted_1 FOR VALUES FROM (0) TO (400)`)
  await reading.run(`CREATE TABLE parted_1b PARTITION OF parted_1 DEFAULT`)
  await reading.run(`CREATE TABLE parent (${FILLED})`)
  await reading.run(`CREATE TABLE child (more text) INHERITS (parent)`)
  for (const name of ["keyed", "two_keys", "heap", "parted"]) await fill(name)
  await fill("parent", 1, 300)
  await reading.run(`INSERT INTO child (n, k, t, filler) SELECT n, k, t, filler FROM heap WHERE n > 300`)
  await reading.run(`CREATE MATERIALIZED VIEW kept AS SELECT * FROM heap`)
  await reading.run(`CREATE VIEW seen AS SELECT * FROM heap`)
})
afterAll(() => reading.close())

const OBJECTS = ["keyed", "two_keys", "heap", "parted", "parent", "kept", "seen"]

const SELECTIONS: ReadonlyArray<readonly [name: string, params: ParamPairs, rows: string]> = [
  ["everything", [], "true"],
  [
    "a filter",
    [
      ["fc", "k"],
      ["fo", "ge"],
      ["fv", "1"],
    ],
    "k >= 1",
  ],
  ["a search", [["q", "TEXT 2"]], "t ILIKE '%text 2%'"],
  [
    "two filters and a search",
    [
      ["fc", "n"],
      ["fo", "le"],
      ["fv", "690"],
      ["fc", "t"],
      ["fo", "notempty"],
      ["fv", ""],
      ["q", "text"],
    ],
    "n <= 690 AND t IS NOT NULL",
  ],
]

describe("a walk over all pages", () => {
  for (const name of OBJECTS) {
    it(`shows every selected row of ${name} once, in both directions, sorted or not`, async () => {
      for (const [what, selection, rows] of SELECTIONS) {
        const expected = (await reading.run(`SELECT n FROM ${name} WHERE ${rows}`)).map(({ n }) => Number(n))
        for (const sort of [[], [["sort", "t"] as const], [["sort", "k"] as const]]) {
          const walked: Array<ReadonlyArray<number>> = []
          for (const dir of ["asc", "desc"]) {
            for (const limit of ["97", "700"]) {
              const params: ParamPairs = [...selection, ...sort, ["dir", dir], ["limit", limit], ["col", "n"]]
              const { items } = await walk(reading, name, params)
              const numbers = items.map((item): number => JSON.parse(item).n)
              const about = `${what}, ${JSON.stringify(params)}`
              expect(
                numbers.toSorted((a, b) => a - b),
                about,
              ).toEqual(expected.toSorted((a, b) => a - b))
              walked.push(numbers)
            }
          }
          // The page size changes nothing, and without a sort one direction is the reverse of the other.
          expect(walked[1], what).toEqual(walked[0])
          expect(walked[3], what).toEqual(walked[2])
          if (sort.length === 0) expect(walked[2], what).toEqual(walked[0]?.toReversed())
        }
      }
    })
  }
})
