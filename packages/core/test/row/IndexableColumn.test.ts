import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { isLong, isShort, servingColumns } from "@data-cabinet/core/row/IndexableColumn"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { tableOf } from "../selection/tables.ts"

const columns = {
  id: "number!",
  shop: "number",
  total: "number",
  paid: "boolean",
  note: "text",
  at: "timestamptz",
  spot: "other",
} as const
const table = tableOf(columns, { key: ["id"] })
const key = new CursorKey(Buffer.alloc(32, 7))

const served = (params: ParamPairs, of = table) => {
  const plan = selectionPlan(Result.getOrThrow(selectionParams(params)), of, key)
  return servingColumns(selectionSql(Result.getOrThrow(plan), "UTC")).join(" ")
}
const filter = (column: string, condition: string, value = "1"): ParamPairs => [
  ["fc", column],
  ["fo", condition],
  ["fv", value],
]

describe("servingColumns", () => {
  it("puts columns with equality first, then the sort or a range", () => {
    assert.strictEqual(served(filter("total", "eq")), "total")
    assert.strictEqual(served(filter("total", "ge")), "total")
    assert.strictEqual(served([["sort", "at"]]), "at")
    assert.strictEqual(served([...filter("total", "eq"), ["sort", "at"]]), "total at")
    assert.strictEqual(served([...filter("total", "eq"), ["per", "at"]]), "total at")
    assert.strictEqual(served([...filter("total", "gt"), ["sort", "at"]]), "total")
    assert.strictEqual(served([...filter("paid", "eq", "true"), ["sort", "at"]]), "paid at")
    const both = [...filter("total", "eq"), ...filter("shop", "eq")]
    assert.strictEqual(served(both), "shop total")
    assert.strictEqual(served([...both, ...filter("paid", "eq", "true"), ["sort", "at"]]), "paid shop at")
    assert.strictEqual(served([...filter("total", "eq"), ["sort", "total"]]), "total")
  })

  it("uses a text column only by itself, and only for equality", () => {
    assert.strictEqual(served([...filter("note", "eq", "x"), ["sort", "at"]]), "note")
    assert.strictEqual(served([...filter("note", "eq", "x"), ...filter("total", "eq")]), "total")
    assert.strictEqual(served(filter("note", "gt", "x")), "")
    assert.strictEqual(served([["sort", "note"]]), "")
  })

  it("has at most three columns, or none if the whole key is compared", () => {
    const all = [...filter("total", "eq"), ...filter("shop", "eq"), ...filter("at", "eq", "2026-01-02T03:04:05Z")]
    assert.strictEqual(served([...all, ...filter("paid", "eq", "true")]), "at paid shop")
    assert.strictEqual(served([...filter("paid", "eq", "true"), ...filter("total", "eq")]), "paid total")
    assert.strictEqual(served([...filter("total", "eq"), ["sort", "note"]]), "total")
    assert.strictEqual(served(filter("total", "eq"), tableOf(columns)), "total", "without a key")
    const two = tableOf(columns, { key: ["id", "shop"] })
    assert.strictEqual(served(filter("id", "eq"), two), "id")
    assert.strictEqual(served([...filter("id", "eq"), ...filter("shop", "eq")], two), "")
  })

  it("omits columns without an order and columns whose comparison may run customers' code", () => {
    for (const [name, is] of [
      ["total", isShort],
      ["note", isLong],
    ] as const) {
      const column = table.columns.find((one) => one.name === name)!
      assert.isTrue(is(column))
      assert.isFalse(is({ ...column, type: { ...column.type, runsNoUserCode: false } }))
      assert.isFalse(is({ ...column, type: { ...column.type, operators: null } }))
    }
    assert.deepStrictEqual(
      [isShort, isLong].map((is) => table.columns.filter(is).map(({ name }) => name)),
      [["id", "shop", "total", "paid", "at"], ["note"]],
    )
  })

  it("is empty when no index would help", () => {
    for (const condition of ["ne", "contains", "empty", "notempty"]) {
      const value = condition.endsWith("empty") ? "" : "1"
      assert.strictEqual(served(filter("total", condition, value)), "", condition)
    }
    assert.strictEqual(served([]), "")
    assert.strictEqual(served([["q", "x"]]), "")
    assert.strictEqual(served([["sort", "id"]]), "")
    assert.strictEqual(served(filter("id", "eq")), "")
    assert.strictEqual(served(filter("paid", "eq", "true")), "")
    assert.strictEqual(served(filter("total", "eq"), tableOf(columns, { identity: "text" })), "", "a view")
  })
})
