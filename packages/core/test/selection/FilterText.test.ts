import type { ArrayType, ColumnType, CompositeType } from "@data-cabinet/core/row/ColumnType"
import { filterText } from "@data-cabinet/core/selection/FilterText"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { scalar } from "./tables.ts"

const arrayOf = (element: ColumnType): ArrayType => ({ ...scalar("other"), kind: "array", element })
const pair: CompositeType = {
  ...scalar("other"),
  kind: "composite",
  fields: [
    { name: "a", type: scalar("number") },
    { name: "b", type: arrayOf(scalar("text")) },
  ],
}

describe("filterText", () => {
  it.each([
    ["", "\\x"],
    ["AA==", "\\x00"],
    ["/w==", "\\xff"],
    ["3q2+7w==", "\\xdeadbeef"],
  ])("reads bytes as base64: %s", (value, text) => {
    assert.strictEqual(filterText(scalar("bytea"), value), text)
  })

  it.each(["\\x00", "AA", "AA=", "A", "AB==", "_w==", "AA==\n", " AA==", "AA==AA=="])(
    "returns no bytes for malformed base64: %j",
    (value) => {
      assert.isUndefined(filterText(scalar("bytea"), value))
    },
  )

  it.each([
    ["[]", "{}"],
    ["[1,2.50,null]", `{"1","2.50",NULL}`],
    ["[12345678901234567890]", `{"12345678901234567890"}`],
    ["[[1],[2]]", `{{"1"},{"2"}}`],
    [' ["a\\"b","c\\\\d","null",true]', `{"a\\"b","c\\\\d","null","true"}`],
    ["[2:3]={1,2}", "[2:3]={1,2}"],
    ["{1,2}", "{1,2}"],
    ["[1", "[1"],
  ])("reads an array as JSON, and leaves PostgreSQL's own form: %s", (value, text) => {
    assert.strictEqual(filterText(arrayOf(scalar("text")), value), text)
  })

  it("reads the elements of an array in the form of their type", () => {
    assert.strictEqual(filterText(arrayOf(scalar("bytea")), '["AA=="]'), `{"\\\\x00"}`)
    assert.isUndefined(filterText(arrayOf(scalar("bytea")), '["\\\\x00"]'))
    assert.strictEqual(filterText(arrayOf(scalar("jsonb")), '[{"a":1.0},[1]]'), `{"{\\"a\\":1.0}","[1]"}`)
    assert.strictEqual(
      filterText(arrayOf(pair), '[{"a":1,"b":["x"]},{"b":null}]'),
      String.raw`{"(\"1\",\"{\\\"x\\\"}\")","(,)"}`,
    )
    assert.isUndefined(filterText(arrayOf(pair), '[{"c":1}]'))
    assert.isUndefined(filterText(arrayOf(scalar("text")), '[{"c":1}]'))
  })

  it.prop(
    "leaves values of every other type unchanged",
    [Schema.String, Schema.Literals(["text", "number", "jsonb", "date", "other"])],
    ([value, kind]) => {
      assert.strictEqual(filterText(scalar(kind), value), value)
    },
  )
})
