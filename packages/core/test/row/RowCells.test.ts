import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import type { ColumnKind, FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import { LongValues } from "@data-cabinet/core/row/LongValues"
import { MAX_FIELD_COLUMNS, MAX_LABEL_LENGTH, nameColumns, planRow, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { expect, it } from "vitest"

const column = (name: string, kind: ColumnKind, more: Partial<FieldColumn> = {}): FieldColumn => ({
  field: name,
  name,
  kind,
  ...more,
})
const layout = (...columns: ReadonlyArray<FieldColumn>) => new TableLayout(columns)
const many = (count: number) => Array.from({ length: count }, (_, n) => column(`f${n}`, "text"))
const plan = (known: TableLayout, fields: Readonly<Record<string, Json>>) => {
  const payload = new Map(Object.entries(fields))
  return planRow(known, payload, jsonText(payload))
}
const number = (token: string) => new JsonNumber(token)
const WIDE = number("1e131071")

it.each<[string, Json, string]>([
  ["a text", "x", '"x"'],
  ["a number", number("1.50"), '"1.50"'],
  ["true", true, '"true"'],
  ["a number that no numeric column holds", WIDE, '"1e131071"'],
])("a text column takes %s to the last character", (_, value, cell) => {
  expect(plan(layout(column("a", "text")), { a: value }).members).toBe(`,"a":${cell}`)
})

it.each<[string, Json]>([
  ["a list", [number("1")]],
  ["an object", new Map([["b", "x"]])],
])("a text column leaves %s to a sibling that keeps its structure", (_, value) => {
  const { members, missing } = plan(layout(column("a", "text")), { a: value })
  expect([members, missing]).toEqual(["", [{ field: "a", kind: "jsonb" }]])
})

it.each<[ColumnKind, string, string]>([
  ["numeric", "12.50", "12.50"],
  ["boolean", "true", "true"],
  ["date", "2026-01-02", '"2026-01-02"'],
  ["timestamptz", "2026-01-02T03:04:05Z", '"2026-01-02T03:04:05Z"'],
])("a column of %s takes the text %s if an operator chose its type, and only then", (kind, text, cell) => {
  const chosen = column("a", kind, { typePinned: true })
  expect(plan(layout(chosen), { a: text }).members).toBe(`,"a":${cell}`)
  for (const known of [column("a", kind), column("a", kind, { typePinned: false })]) {
    expect(plan(layout(known), { a: text })).toMatchObject({ members: "", missing: [{ field: "a", kind: "text" }] })
  }
  // A text that is not exactly such a value, and a value that is not text.
  for (const other of ["x", ` ${text}`]) {
    expect(plan(layout(chosen), { a: other }).missing).toEqual([{ field: "a", kind: "text" }])
  }
  expect(plan(layout(chosen), { a: [text] }).missing).toEqual([{ field: "a", kind: "jsonb" }])
})

it("planRow creates columns up to the limits of a name's length and a table's number", () => {
  const [longest, longer] = ["x".repeat(MAX_LABEL_LENGTH), "x".repeat(MAX_LABEL_LENGTH + 1)]
  expect(plan(layout(), { [longest]: "v" })).toMatchObject({ missing: [{ field: longest }], needsMore: false })
  expect(plan(layout(), { [longer]: "v" })).toMatchObject({ missing: [], needsMore: true })
  const nearly = layout(...many(MAX_FIELD_COLUMNS - 1))
  expect(plan(nearly, { a: "v", b: "v" })).toMatchObject({ missing: [{ field: "a", kind: "text" }], needsMore: true })
})

it("planRow keeps values without a column as sent, and numbers too wide for jsonb as text", () => {
  const full = layout(...many(MAX_FIELD_COLUMNS), column("_more", "jsonb"))
  const fields = { n: number("1.0"), t: 'a"b', b: false, w: WIDE, l: [WIDE], o: new Map([["x", number("0.10")]]) }
  const { members, missing, needsMore, unrecorded } = plan(full, fields)
  const more = '"n":1.0,"t":"a\\"b","b":false,"w":"1e131071","l":"[1e131071]","o":{"x":0.10}'
  expect(members).toBe(`,"_more":{${more}}`)
  expect([missing, needsMore, unrecorded]).toEqual([[], false, []])
})

it("planRow gives a field named `_more` its own column", () => {
  const known = layout(column("a", "text"), column("_more", "jsonb"))
  const { members, missing } = plan(known, { a: "x", _more: "y" })
  expect([members, missing]).toEqual([',"a":"x"', [{ field: "_more", kind: "text" }]])
  expect(nameColumns(known, missing)).toEqual([{ field: "_more", name: "_more_2", kind: "text" }])
})

it("planRow slices a row from the event's text when every value fits its column", () => {
  const known = layout(column("a", "text"), column("n", "numeric"), column("b", "boolean"), column("j", "jsonb"))
  const fields = { a: "x", n: number("1.50"), b: null, j: [null] }
  expect(plan(known, fields).members).toBe(',"a":"x","n":1.50,"b":null,"j":[null]')
})

it("nameColumns creates one column per field and kind, however often it is missing", () => {
  const names = (known: TableLayout, ...kinds: ReadonlyArray<"text" | "numeric" | "boolean">) =>
    nameColumns(
      known,
      kinds.map((kind) => ({ field: "a", kind })),
    ).map(({ name }) => name)
  expect(names(layout(), "text", "numeric", "text", "boolean", "numeric")).toEqual(["a", "a_numeric", "a_boolean"])
  expect(names(layout(column("a", "numeric")), "numeric", "text")).toEqual(["a_text"])
  const long = column("x".repeat(63), "numeric", { field: "a" })
  expect(names(layout(long), "text")).toEqual([`${"x".repeat(50)}_text`])
})

it("LongValues examines a long event in pieces, and the row is the same", () => {
  const long: Json = Array.from({ length: 40_000 }, (_, n) => (n % 3 === 0 ? `${n}` : number(`${n}`)))
  const payloads = [
    { a: long, b: [number("1")], c: "x", d: null },
    { a: [long, WIDE], b: new Map<string, Json>([["c", [long, [WIDE]]]]), c: [WIDE] },
    {},
  ]
  for (const [n, fields] of payloads.entries()) {
    const payload = new Map<string, Json>(Object.entries(fields))
    const values = new LongValues(payload)
    let pieces = 1
    while (!values.advance()) pieces++
    expect(pieces > 1, String(n)).toBe(n < 2)
    const text = jsonText(payload)
    for (const known of [layout(), layout(column("a", "jsonb")), layout(column("a", "text"), column("b", "jsonb"))]) {
      expect(planRow(known, payload, text, values)).toEqual(planRow(known, payload, text))
    }
  }
})
