import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { tableOf } from "./tables.ts"

const table = tableOf(
  { id: "number!", total: "number", note: "text", day: "date", at: "timestamptz!", raw: "json", spot: "other" },
  { key: ["id"] },
)

const key = new CursorKey(Buffer.alloc(32, 7))
const plan = (params: ParamPairs, of = table) => selectionPlan(Result.getOrThrow(selectionParams(params)), of, key)

const planned = (params: ParamPairs, of = table) => Result.getOrThrow(plan(params, of))

const refused = (...params: ParamPairs) => {
  const error = Result.getOrThrow(Result.flip(plan(params)))
  return `${error.code} ${error.param}`
}

const names = (...params: ParamPairs) => planned(params).showing.columns.map(({ name }) => name)

describe("selectionPlan", () => {
  it("refuses a column that the object does not have, in every parameter", () => {
    assert.strictEqual(refused(["fc", "x"], ["fo", "eq"]), "unknown_column fc")
    for (const name of ["per", "sort", "col", "order", "hide"]) {
      assert.strictEqual(refused([name, "ID"]), `unknown_column ${name}`)
      assert.strictEqual(refused([name, "toString"]), `unknown_column ${name}`)
      assert.strictEqual(refused([name, ""]), `unknown_column ${name}`)
    }
  })

  it("says how a sort in the manner of other APIs is written here", () => {
    const words = (...params: ParamPairs) => Result.getOrThrow(Result.flip(plan(params))).message
    for (const sort of ["-total", "total desc", "total:DESC", "total.desc"]) {
      assert.include(words(["sort", sort]), "Send sort=total with dir=desc.")
    }
    assert.include(words(["sort", "+total"]), "Send sort=total with dir=asc.")
    for (const param of ["per", "col"]) assert.notInclude(words([param, "-total"]), "dir=")
  })

  it("refuses an operation that a column's type does not support, with its code", () => {
    for (const condition of ["eq", "ne", "gt", "ge", "lt", "le"]) {
      assert.strictEqual(refused(["fc", "raw"], ["fo", condition], ["fv", "1"]), "bad_selection fo")
    }
    for (const condition of ["contains", "empty", "notempty"])
      planned([
        ["fc", "spot"],
        ["fo", condition],
      ])
    assert.strictEqual(refused(["sort", "spot"]), "bad_selection sort")
    assert.strictEqual(refused(["per", "note"]), "bad_period per")
    planned([["per", "day"]])
    planned([["per", "at"]])
  })

  it("shows exactly col in its order; or first order, then the rest as they are, without hidden columns", () => {
    assert.deepStrictEqual(names(["col", "note"], ["col", "id"]), ["note", "id"])
    assert.deepStrictEqual(names(["order", "at"], ["order", "note"]), [
      "at",
      "note",
      "id",
      "total",
      "day",
      "raw",
      "spot",
    ])
    assert.deepStrictEqual(names(["order", "at"], ["hide", "id"], ["hide", "raw"]), [
      "at",
      "total",
      "note",
      "day",
      "spot",
    ])
    const all = Object.keys({ id: 0, total: 0, note: 0, day: 0, at: 0, raw: 0, spot: 0 })
    assert.strictEqual(refused(...all.map((name) => ["hide", name] as const)), "bad_columns hide")
  })

  it("sorts a source's table newest first, others by their key, and dir alone sets the direction", () => {
    const source = tableOf({ _event_id: "number!", total: "number" }, { key: ["_event_id"], schema: "sources" })
    assert.strictEqual(planned([], source).direction, "desc")
    assert.strictEqual(planned([["dir", "asc"]], source).direction, "asc")
    assert.strictEqual(planned([["sort", "total"]], source).direction, "asc")
    assert.strictEqual(planned([["sort", "_event_id"]], source).direction, "asc")
    assert.strictEqual(planned([]).direction, "asc")
    assert.strictEqual(planned([["dir", "desc"]]).direction, "desc")
  })

  it("breaks ties by the key columns that are not in the sort", () => {
    const wide = tableOf({ a: "number!", b: "text!", c: "text" }, { key: ["a", "b"] })
    const ties = (sort: string) => planned([["sort", sort]], wide).ties.map(({ name }) => name)
    assert.deepStrictEqual([ties("c"), ties("a"), ties("b")], [["a", "b"], ["b"], ["a"]])
    assert.isNull(planned([["sort", "id"]]).sort)
    assert.deepStrictEqual(
      planned([["sort", "id"]]).ties.map(({ name }) => name),
      ["id"],
    )
  })

  it("sorts by further columns up to the one that completes the key", () => {
    const wide = tableOf({ a: "number!", b: "text!", c: "text", d: "text", e: "other" }, { key: ["a", "b"] })
    const order = (...sorts: ReadonlyArray<string>) => {
      const { sort, thenBy, ties } = planned(
        sorts.map((name) => ["sort", name]),
        wide,
      )
      return [sort?.name, ...thenBy.map(({ column }) => column.name), "/", ...ties.map(({ name }) => name)].join(" ")
    }
    assert.strictEqual(order("c", "d"), "c d / a b")
    assert.strictEqual(order("c", "b", "d"), "c b d / a")
    assert.strictEqual(order("c", "b", "a", "d"), "c b a /")
    const byKey = planned([
      ["sort", "id"],
      ["sort", "total"],
    ])
    assert.deepStrictEqual([byKey.sort, byKey.thenBy, byKey.ties.map(({ name }) => name)], [null, [], ["id"]])
    assert.deepInclude(
      Result.getOrThrow(
        Result.flip(
          plan(
            [
              ["sort", "c"],
              ["sort", "e"],
            ],
            wide,
          ),
        ),
      ),
      { code: "bad_selection", param: "sort" },
    )
    assert.strictEqual(refused(["sort", "total"], ["sort", "x"]), "unknown_column sort")
  })

  it("refuses a cursor of other groups, further sorts or directions", () => {
    const params: ParamPairs = [...new URLSearchParams("fc=note&fo=empty&fc=total&fo=empty&sort=total&sort=note&fj=or")]
    const cursor = ["cursor", encodeCursor(planned(params).walk, ["1", "x", "7"])] as const
    assert.deepStrictEqual(planned([...params, cursor]).after, ["1", "x", "7"])
    const changed: ReadonlyArray<ParamPairs> = [
      params.filter(([name]) => name !== "fj"),
      params.filter(([name, value]) => name !== "sort" || value !== "note"),
      [...params, ["dir", "asc"], ["dir", "desc"]],
      [...params, ["sort", "day"]],
    ]
    for (const other of changed) {
      assert.strictEqual(Result.getOrThrow(Result.flip(plan([...other, cursor]))).code, "bad_cursor")
    }
  })

  it("refuses a clock word as a value to compare a date or a time with, and only there", () => {
    const filtered = (column: string, condition: string, value: string): ParamPairs => [
      ["fc", "note"],
      ["fo", "eq"],
      ["fv", "today"],
      ["fc", column],
      ["fo", condition],
      ["fv", value],
    ]
    for (const condition of ["eq", "ne", "gt", "ge", "lt", "le"]) {
      const error = Result.getOrThrow(Result.flip(plan(filtered("day", condition, " Today "))))
      assert.deepInclude(error, { code: "bad_fv", param: "fv" })
      assert.match(error.message, /fv number 2 .*column "day".*"Today"/)
      assert.strictEqual(refused(...filtered("at", condition, "now")), "bad_fv fv")
    }
    planned(filtered("day", "eq", "infinity"))
    planned(filtered("day", "contains", "today"))
    planned(filtered("note", "eq", "now"))
  })

  it("shows no columns of an object that has none, and refuses to hide every column of one that has some", () => {
    assert.deepStrictEqual(planned([], tableOf({})).showing.columns, [])
    assert.strictEqual(refused(...table.columns.map(({ name }) => ["hide", name] as const)), "bad_columns hide")
  })

  it("accepts a cursor for the same selection only, with any page size", () => {
    const params: ParamPairs = [
      ["sort", "total"],
      ["q", "x"],
      ["fc", "note"],
      ["fo", "eq"],
      ["fv", "1"],
      ["hide", "day"],
      ["per", "day"],
    ]
    const cursor = ["cursor", encodeCursor(planned(params).walk, ["1.50", "7"])] as const
    assert.deepStrictEqual(planned([...params, cursor]).after, ["1.50", "7"])
    assert.deepStrictEqual(planned([...params, cursor, ["limit", "3"]]).after, ["1.50", "7"])
    const changed: ReadonlyArray<ParamPairs> = [
      [...params, ["dir", "desc"]],
      [...params, ["from", "2026-01-01"]],
      [...params, ["order", "note"]],
      params.map(([name, value]) => [name, name === "q" ? "y" : value]),
      params.map(([name, value]) => [name, name === "fv" ? "2" : value]),
      params.map(([name, value]) => [name, name === "sort" ? "note" : value]),
      params.filter(([name]) => name !== "hide"),
    ]
    for (const other of changed) {
      assert.strictEqual(
        Result.getOrThrow(Result.flip(plan([...other, cursor]))).code,
        "bad_cursor",
        JSON.stringify(other),
      )
    }
    const retyped = tableOf(
      { id: "number!", total: "text", note: "text", day: "date", at: "timestamptz!" },
      { key: ["id"] },
    )
    assert.strictEqual(Result.getOrThrow(Result.flip(plan([...params, cursor], retyped))).param, "cursor")
  })
})
