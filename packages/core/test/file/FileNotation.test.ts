import { FileNotation, hasNotation, notationRefusal } from "@data-cabinet/core/file/FileNotation"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import type { Notation } from "@data-cabinet/core/row/Notation"
import { expect, it } from "vitest"

const rowsIn = (
  notation: Notation,
  rows: ReadonlyArray<Readonly<Record<string, Json>>>,
  columns: Readonly<Record<string, ColumnKind>> = {},
) => {
  const reader = new FileNotation(notation, new Map(Object.entries(columns)))
  const payloads = rows.map((row) => new Map(Object.entries(row)))
  for (const [index, payload] of payloads.entries()) reader.see(index + 2, payload)
  const told = reader.decide()
  return { ...told, rows: payloads.map((payload) => jsonText(reader.read(payload))) }
}

it("FileNotation converts a field if all values fit, to the last digit, and empty values to null", () => {
  const told = rowsIn({ numbers: "comma", dates: "dmy" }, [
    { total: "1.234,50", day: "02.03.2026", note: "1" },
    { total: "", day: "3/3/2026 9:30", note: "one" },
    { total: new JsonNumber("7"), day: null, note: "" },
  ])
  expect(told.rows).toEqual([
    '{"total":1234.50,"day":"2026-03-02","note":"1"}',
    '{"total":null,"day":"2026-03-03T09:30","note":"one"}',
    '{"total":7,"day":null,"note":""}',
  ])
  expect(told.readAs).toEqual([
    { field: "total", as: "number", fits: 2, misfits: 0 },
    { field: "day", as: "date", fits: 2, misfits: 0 },
    { field: "note", as: "text", fits: 1, misfits: 1 },
  ])
  expect(told.misfits).toEqual([{ line: 3, field: "note", value: "one" }])
})

it("FileNotation keeps a field with any other value as text, unless its column already has the type", () => {
  const rows = [
    { code: "123", day: "02.03.2026" },
    { code: "007", day: "2.3.26" },
  ]
  expect(rowsIn({ numbers: "dot", dates: "dmy" }, rows).rows).toEqual(rows.map((row) => JSON.stringify(row)))
  const typed = rowsIn({ numbers: "dot", dates: "dmy" }, rows, { code: "numeric", day: "date" })
  expect(typed.rows).toEqual(['{"code":123,"day":"2026-03-02"}', '{"code":"007","day":"2.3.26"}'])
  expect(typed.readAs.map(({ as, misfits }) => [as, misfits])).toEqual([
    ["number", 1],
    ["date", 1],
  ])
  expect(typed.misfits).toEqual([
    { line: 3, field: "code", value: "007" },
    { line: 3, field: "day", value: "2.3.26" },
  ])
})

it("FileNotation leaves other values and the contents of lists unchanged", () => {
  const rows = [{ total: "1,50", list: ["1,50"], flag: true }]
  const told = rowsIn({ dates: "dmy" }, rows, { total: "numeric" })
  expect(told).toEqual({ rows: rows.map((row) => JSON.stringify(row)), readAs: [], misfits: [] })
})

it("FileNotation reports the first twenty misfits by line, and cuts long ones", () => {
  const rows = Array.from({ length: 30 }, (_, n) => ({ a: n === 0 ? "1" : "x".repeat(300), b: n === 0 ? "1" : "y" }))
  const { misfits, readAs } = rowsIn({ numbers: "dot" }, rows)
  expect(readAs.map(({ misfits: count }) => count)).toEqual([29, 29])
  expect(misfits).toHaveLength(20)
  expect(misfits.map(({ line }) => line)).toEqual(misfits.map((_, n) => 3 + Math.floor(n / 2)))
  expect(misfits[0]).toEqual({ line: 3, field: "a", value: "x".repeat(200) })
})

it("FileNotation reports a misfit that is not text as JSON", () => {
  const rows = [{ a: "1" }, { a: true }, { a: [new JsonNumber("1")] }]
  const { misfits } = rowsIn({ numbers: "dot", dates: "ymd" }, rows, { a: "numeric" })
  expect(misfits.map(({ value }) => value)).toEqual(["true", expect.stringMatching(/^\[/)])
  const days = rowsIn({ dates: "ymd" }, [{ a: new JsonNumber("1.0") }], { a: "timestamptz" })
  expect(days.misfits).toEqual([{ line: 2, field: "a", value: "1.0" }])
  expect(days.readAs).toEqual([{ field: "a", as: "date", fits: 0, misfits: 1 }])
})

it("notationRefusal accepts only existing notations of numbers and days", () => {
  expect([{}, { numbers: "dot" }, { dates: "ymd" }].map((one) => hasNotation(one as Notation))).toEqual([
    false,
    true,
    true,
  ])
  for (const one of [{}, { numbers: "comma" }, { numbers: "dot", dates: "mdy" }, { dates: "dmy" }])
    expect(notationRefusal(one as Notation)).toBeUndefined()
  expect(notationRefusal({ numbers: "roman" } as never)).toContain("numbers")
  expect(notationRefusal({ numbers: "dot", dates: "dym" } as never)).toContain("dates")
})

it("FileNotation returns the same row object when no field of it is converted", () => {
  const reader = new FileNotation({ numbers: "dot" }, new Map())
  const [full, none] = [new Map([["a", "1"]]), new Map([["b", "x"]])]
  for (const row of [full, none]) reader.see(2, row)
  reader.decide()
  expect(reader.read(none)).toBe(none)
  expect(jsonText(reader.read(full))).toBe('{"a":1}')
  expect(full.get("a")).toBe("1")
})
