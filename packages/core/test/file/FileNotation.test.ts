import { FileNotation } from "@data-cabinet/core/file/FileNotation"
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

it("a field whose values are all written in the notation is read, to the last digit, and its empty values are null", () => {
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

it("a field with another value stays text as a whole, unless its column is of numbers or days already", () => {
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

it("what the notation says nothing of, and what is in lists, stays as it is", () => {
  const rows = [{ total: "1,50", list: ["1,50"], flag: true }]
  const told = rowsIn({ dates: "dmy" }, rows, { total: "numeric" })
  expect(told).toEqual({ rows: rows.map((row) => JSON.stringify(row)), readAs: [], misfits: [] })
})
