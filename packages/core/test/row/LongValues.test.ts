/** A long event is checked in pieces before its row is planned, and the plan is the same. */
import { JsonNumber, type Json, type JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { LongValues } from "@data-cabinet/core/row/LongValues"
import { nameColumns, planRow, TableLayout } from "@data-cabinet/core/row/RowPlan"
import { assert, it } from "vitest"

const lookedThrough = (payload: JsonObject) => {
  const values = new LongValues(payload)
  let pieces = 1
  while (!values.advance()) pieces++
  return { values, pieces }
}

const wide = new JsonNumber("1e131071")
const list = (length: number, item: Json): Json => Array.from({ length }, () => item)

const PAYLOADS: ReadonlyArray<readonly [string, JsonObject]> = [
  ["a long list", new Map([["a", list(200_000, new JsonNumber("1"))]])],
  ["a long list of lists", new Map([["a", list(200_000, [])]])],
  ["a number too wide at the end of a long list", new Map([["a", [list(200_000, true), wide]]])],
  ["many fields", new Map(Array.from({ length: 2_000 }, (_, n) => [`f${n}`, list(n % 200, `${n}`)] as const))],
  [
    "scalars",
    new Map<string, Json>([
      ["a", "x".repeat(300_000)],
      ["b", null],
      ["c", wide],
    ]),
  ],
]

it.each(PAYLOADS)("planRow makes the same plan with LongValues as without: %s", (_, payload) => {
  const { values } = lookedThrough(payload)
  const text = jsonText(payload)
  const empty = new TableLayout([])
  const made = nameColumns(empty, planRow(empty, payload, text).missing)
  for (const columns of [
    [],
    made,
    [...made, { field: "_more", name: "_more", kind: "jsonb" as const }],
    [{ field: "a", name: "b", kind: "text" as const }, ...made],
    made.map((column) => ({ ...column, name: `other_${column.name}` })),
  ]) {
    const layout = new TableLayout(columns)
    assert.deepStrictEqual(planRow(layout, payload, text, values), planRow(layout, payload, text))
  }
})

it("LongValues visits no more in one piece than its limit", () => {
  for (const [name, payload] of PAYLOADS.slice(0, 4)) {
    assert.isAtLeast(lookedThrough(payload).pieces, jsonText(payload).length / 131_072, name)
  }
})

it("planRow uses LongValues instead of scanning a long list again", () => {
  const payload = new Map([["a", list(1_000, true)]])
  const { values } = lookedThrough(payload)
  const text = jsonText(payload)
  let looks = 0
  Object.defineProperty(payload.get("a"), Symbol.iterator, { get: () => looks++ })
  const layout = new TableLayout([{ field: "a", name: "b", kind: "jsonb" }])
  assert.strictEqual(planRow(layout, payload, text, values).members, `,"b":${text.slice(5, -1)}`)
  assert.strictEqual(looks, 0)
})
