import { type Json, JsonNumber, type JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import type { ColumnKind, SentKind } from "@data-cabinet/core/row/FieldColumn"
import { MAX_FIELD_COLUMNS, nameColumns, planRow, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { plainDigits } from "@data-cabinet/core/row/NumberWidth"
import { assert, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { describe } from "vitest"

const layout = (...columns: ReadonlyArray<[field: string, name: string, kind: ColumnKind]>) =>
  new TableLayout(columns.map(([field, name, kind]) => ({ field, name, kind })))
const plan = (known: TableLayout, fields: Record<string, Json>) => {
  const payload = new Map(Object.entries(fields))
  return planRow(known, payload, jsonText(payload))
}
const number = (token: string) => new JsonNumber(token)

describe("planRow", () => {
  it("chooses the column by the JSON token and never guesses a type", () => {
    const known = layout(["a", "a", "numeric"], ["a", "a_text", "text"], ["b", "b", "text"], ["c", "c", "jsonb"])
    const { members } = plan(known, { a: "007", b: number("1.50"), c: [number("1e2")] })
    assert.strictEqual(members, ',"a_text":"007","b":"1.50","c":[1e2]')
  })

  it("reports which of its columns have no recorded creator yet", () => {
    const known = new TableLayout([
      { field: "a", name: "a", kind: "text", unrecorded: true },
      { field: "b", name: "b", kind: "text", unrecorded: true },
      { field: "c", name: "c", kind: "text" },
      { field: "_more", name: "_more", kind: "jsonb", unrecorded: true },
    ])
    assert.deepStrictEqual(plan(known, { a: "x", b: null, c: "y" }).unrecorded, ["a"])
    assert.deepStrictEqual(plan(known, { c: "y", ["x".repeat(5_000)]: "z" }).unrecorded, ["_more"])
  })

  it("writes the column's name, not the field's, even where every value fits its column", () => {
    const known = layout(["Total €", "total", "numeric"], ["b", "b", "text"])
    assert.strictEqual(plan(known, { "Total €": number("1.50"), b: "x" }).members, ',"total":1.50,"b":"x"')
    assert.strictEqual(plan(known, { "Total €": null, b: "x" }).members, ',"b":"x"')
  })

  it("writes null into no other field's column", () => {
    const known = layout(["B", "b", "text"], ["c", "c", "text"])
    assert.strictEqual(plan(known, { c: "x", b: null }).members, ',"c":"x"')
    assert.strictEqual(plan(known, { c: "x", _event_id: null }).members, ',"c":"x"')
    assert.strictEqual(plan(known, { c: null }).members, ',"c":null')
    assert.strictEqual(plan(known, {}).members, "")
  })

  const VALUES: ReadonlyArray<Json> = [
    null,
    "",
    'a"b',
    "7",
    true,
    number("1.50"),
    number("1e400"),
    number("1e131071"),
    [number("1e131071")],
    [],
    ["x", null],
  ]
  const KINDS: ReadonlyArray<ColumnKind> = ["text", "numeric", "boolean", "jsonb", "date"]
  it.prop(
    "slices the same text from the event that it would write",
    [
      Schema.Array(Schema.Tuple([Schema.Literals(["a", "b", "B", "_raw"]), Schema.Literals(VALUES.map((_, n) => n))])),
      Schema.Array(
        Schema.Tuple([Schema.Literals(["a", "b", "B"]), Schema.Literals(["a", "b", "a_2"]), Schema.Literals(KINDS)]),
      ),
    ],
    ([fields, columns]) => {
      const payload = new Map(fields.map(([field, value]) => [field as string, VALUES[value]!]))
      const known = columns.map(([field, name, kind]) => ({ field, name, kind }))
      const text = jsonText(payload)
      // Columns without a recorded creator are searched field by field.
      const written = new TableLayout([...known, { field: "other", name: "other", kind: "text", unrecorded: true }])
      const filled = (members: string) =>
        [...(Result.getOrThrow(parseJson(`{"":null${members}}`)) as JsonObject)].filter(([, value]) => value !== null)
      const [cut, made] = [planRow(new TableLayout(known), payload, text), planRow(written, payload, text)]
      assert.deepStrictEqual(filled(cut.members), filled(made.members))
      assert.deepStrictEqual({ ...cut, members: "" }, { ...made, members: "" })
    },
    { arbitrary: { runs: 3000 } },
  )

  it("requests a sibling column of the value's own kind if the field's column cannot hold it", () => {
    const known = layout(["a", "a", "numeric"])
    assert.deepStrictEqual(plan(known, { a: true }).missing, [{ field: "a", kind: "boolean" }])
    assert.deepStrictEqual(plan(known, { a: new Map([["toString", "x"]]) }).missing, [{ field: "a", kind: "jsonb" }])
  })

  it("writes a number of more than 1,000 plain digits as text, alone and inside a list", () => {
    assert.deepStrictEqual(plan(layout(), { n: number("1e131071") }).missing, [{ field: "n", kind: "text" }])
    assert.deepStrictEqual(plan(layout(), { n: [number("1e131071")] }).missing, [{ field: "n", kind: "text" }])
    assert.strictEqual(plan(layout(["n", "n", "text"]), { n: number("1e131071") }).members, ',"n":"1e131071"')
  })

  it("creates no column for null and for the service's own keys", () => {
    assert.deepStrictEqual(plan(layout(), { a: null, _raw: "x", _value: number("1"), _parse_error: "y" }).missing, [])
  })

  it("puts fields past the limit, and a field with a very long name, into _more", () => {
    const full = new TableLayout(
      Array.from({ length: MAX_FIELD_COLUMNS }, (_, n) => ({ field: `f${n}`, name: `f${n}`, kind: "text" as const })),
    )
    const late = plan(full, { f0: "in", late: number("1.0") })
    assert.strictEqual(late.members, ',"f0":"in","_more":{"late":1.0}')
    assert.isTrue(late.needsMore)
    assert.deepStrictEqual(late.missing, [])
    assert.isTrue(plan(layout(), { ["x".repeat(5_000)]: "v" }).needsMore)
  })
})

describe("nameColumns", () => {
  const names = (known: TableLayout, ...fields: ReadonlyArray<[string, SentKind]>) =>
    nameColumns(
      known,
      fields.map(([field, kind]) => ({ field, kind })),
    ).map((column) => column.name)

  it("creates readable, unique names", () => {
    assert.deepStrictEqual(
      names(
        layout(),
        ["Имя", "text"],
        ["Total €", "numeric"],
        ["total", "text"],
        ["TOTAL", "text"],
        ["!!", "text"],
        ["", "text"],
      ),
      ["imya", "total_eur", "total", "total_2", "field", "field_2"],
    )
  })

  it("avoids the names of columns that every table has", () => {
    assert.deepStrictEqual(
      names(layout(), ["ctid", "text"], ["_event_id", "text"], ["xmin", "text"], ["select", "text"]),
      ["ctid_2", "_event_id_2", "xmin_2", "select"],
    )
  })

  it("names a sibling after its field's column, in at most 63 bytes", () => {
    assert.deepStrictEqual(names(layout(["amount", "amount", "numeric"]), ["amount", "text"]), ["amount_text"])
    for (const name of names(layout(), ["x".repeat(100), "text"], [`${"x".repeat(100)}y`, "text"])) {
      assert.isAtMost(name.length, 63)
    }
  })

  it("stops at the column limit, which includes siblings", () => {
    const nearly = new TableLayout(
      Array.from({ length: MAX_FIELD_COLUMNS - 1 }, (_, n) => ({
        field: `f${n}`,
        name: `f${n}`,
        kind: "text" as const,
      })),
    )
    assert.deepStrictEqual(names(nearly, ["a", "text"], ["b", "text"]), ["a"])
  })
})

it.each([
  ["0", 1],
  ["-12.50", 4],
  ["1e3", 4],
  ["1e-3", 4],
  ["12345e-2", 5],
  ["1E400", 401],
  ["1e99999999999999999999", Number.POSITIVE_INFINITY],
])("plainDigits of %s is %d", (token, digits) => {
  assert.strictEqual(plainDigits(token), digits)
})
