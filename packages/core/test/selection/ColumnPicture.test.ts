import { compareDecimals, decimalOf } from "@data-cabinet/core/json/Decimal"
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import { ColumnCounts, type ColumnPicture, pictureOfStatistics } from "@data-cabinet/core/selection/ColumnPicture"
import { assert, it } from "vitest"

const column = (kind: string, name: string = kind): ReadableColumn =>
  ({ name: "c", type: { kind, name } }) as unknown as ReadableColumn

const counted = (of: ReadableColumn, tokens: ReadonlyArray<string>, zone = "UTC"): ColumnPicture => {
  const counts = new ColumnCounts(of)
  for (const token of tokens) counts.add(token)
  return counts.picture(zone)
}

const compare = (one: string, other: string) => compareDecimals(decimalOf(one)!, decimalOf(other)!)

it("each bar of numbers counts exactly the rows that a filter by its bounds finds, to the last digit", () => {
  const digits = "1234567890123456789012345678901234567890"
  const cases: ReadonlyArray<ReadonlyArray<string>> = [
    ["0.1", "0.2", "0.3", "0.30000000000000000001", "0.29999999999999999999", "-0.1"],
    Array.from({ length: 50 }, (_, n) => digits.slice(0, 38) + String(n).padStart(2, "0")),
    Array.from({ length: 500 }, (_, n) => (((n * 7919) % 1000) - 500).toString()),
    Array.from({ length: 500 }, (_, n) => (((n * 7919) % 1000) * 1.25).toFixed(2)),
    ["1e-7", "5e-7", "2.5e-6", "1e3"],
    ["-1", "0"],
  ]
  for (const values of cases) {
    const { bars, rows } = counted(column("number"), values)
    assert.isAtMost(bars.length, 24)
    assert.strictEqual(
      bars.reduce((sum, bar) => sum + bar.rows, 0),
      rows,
    )
    for (const [index, { from, below, rows: found }] of bars.entries()) {
      if (index > 0) assert.strictEqual(from, bars[index - 1]!.below)
      const expected = values.filter((value) => compare(value, from) >= 0 && compare(value, below) < 0).length
      assert.strictEqual(found, expected, `${from} to ${below} of ${values[0]!}…`)
    }
  }
})

it("what has no place, such as NaN, infinity and more digits than anybody reads, is counted beside the bars", () => {
  const values = ["1", "2", '"NaN"', '"Infinity"', "null", `1${"0".repeat(70)}`, `0.${"0".repeat(70)}1`]
  const { bars, beyond, empty, rows } = counted(column("number"), values)
  assert.deepStrictEqual([rows, empty, beyond], [7, 1, 4])
  assert.deepStrictEqual(
    bars.map((bar) => bar.rows),
    [1, 1],
  )
})

it("a bar of one whole number says so, and one of decimals does not", () => {
  const isOne = (name: string) => counted(column("number", name), ["1", "2", "4"]).bars.map((bar) => bar.isOne)
  assert.deepStrictEqual(isOne("integer"), [true, true, true, true])
  assert.deepStrictEqual(isOne("numeric"), [false, false, false, false])
})

it("days and times have bars in steps that people read, from the zone's midnight; a day that means never is left out", () => {
  const days = counted(column("date", "date"), ['"2026-01-01"', '"2026-03-01"', '"9999-12-31"', '"infinity"'])
  assert.deepStrictEqual([days.bars[0]!.from, days.bars.length, days.beyond], ["2026-01-01", 20, 2])
  const times = Array.from({ length: 20 }, (_, n) => `"2026-07-${String(n + 1).padStart(2, "0")}T05:06:07.123456Z"`)
  const { bars } = counted(column("timestamptz"), times, "Europe/Berlin")
  assert.deepStrictEqual(bars[0], {
    from: "2026-06-30T22:00:00Z",
    below: "2026-07-01T22:00:00Z",
    rows: 1,
    isOne: false,
  })
  assert.strictEqual(bars.length, 20)
  const local = counted(column("timestamp"), ['"2026-07-01T10:00:00"', '"2026-07-01T10:30:00"']).bars
  assert.deepStrictEqual(
    [local.length, local[0]!.from, local[1]!.from],
    [16, "2026-07-01T10:00:00", "2026-07-01T10:02:00"],
  )
})

it("few values are listed, most frequent first; values that nobody repeats are only counted", () => {
  const few = counted(column("text"), ['"a"', '"b"', '"b"', '""', "null", '"\\"é"'])
  assert.deepStrictEqual(few.values, [
    { value: "b", rows: 2 },
    { value: "a", rows: 1 },
    { value: '"é', rows: 1 },
  ])
  assert.deepStrictEqual([few.empty, few.distinct], [2, 3])
  const many = counted(
    column("text"),
    Array.from({ length: 40 }, (_, n) => `"${n}"`),
  )
  assert.deepStrictEqual([many.values, many.distinct], [[], 40])
  const long = counted(column("text"), ['"a"', '"a"', `"${"x".repeat(500)}"`])
  assert.deepStrictEqual([long.values, long.distinct], [[{ value: "a", rows: 2 }], null])
  assert.deepStrictEqual(counted(column("jsonb"), ["{}", "[]", "null", '{"a":1}']).empty, 3)
})

it("statistics become the same pictures: frequent values, groups spread over the bars, and the share without a value", () => {
  const text = pictureOfStatistics(
    column("text"),
    "UTC",
    {
      column: "c",
      nulls: 0.5,
      distinct: 3,
      common: [
        { value: "", share: 0.1 },
        { value: "a", share: 0.3 },
        { value: "b", share: 0.1 },
      ],
      bounds: [],
    },
    1000,
  )
  assert.deepInclude(text, { empty: 600, distinct: 2, rows: 1000 })
  assert.deepStrictEqual(text.values, [
    { value: "a", rows: 300 },
    { value: "b", rows: 100 },
  ])
  const numbers = pictureOfStatistics(
    column("number"),
    "UTC",
    { column: "c", nulls: 0, distinct: -1, common: [], bounds: ["0", "10", "20", "100", "NaN"] },
    4000,
  )
  assert.strictEqual(numbers.distinct, 4000)
  // Each bar is rounded by itself.
  const all = numbers.bars.reduce((sum, bar) => sum + bar.rows, 0) + numbers.beyond
  assert.closeTo(all, 4000, numbers.bars.length)
  assert.deepStrictEqual(
    numbers.bars.slice(0, 5).map((bar) => bar.rows),
    [500, 500, 500, 500, 63],
  )
  const truth = pictureOfStatistics(
    column("boolean"),
    "UTC",
    { column: "c", nulls: 0, distinct: 2, common: [{ value: "t", share: 1 }], bounds: [] },
    10,
  )
  assert.deepStrictEqual(truth.values, [{ value: "true", rows: 10 }])
})
