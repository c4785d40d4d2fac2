import { selectionParams, SELECTION_PARAMS } from "@data-cabinet/core/selection/SelectionParams"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const refused = (...pairs: ReadonlyArray<readonly [string, string]>) => {
  const error = Result.getOrThrow(Result.flip(selectionParams(pairs)))
  return `${error.code} ${error.param}`
}

const read = (...pairs: ReadonlyArray<readonly [string, string]>) => Result.getOrThrow(selectionParams(pairs))

describe("selectionParams", () => {
  it("defaults to a hundred rows of everything, in the object's own order", () => {
    assert.deepStrictEqual(read(), {
      search: "",
      filters: [],
      period: null,
      sort: null,
      direction: null,
      columns: { first: [], hidden: [] },
      limit: 100,
      cursor: null,
    })
  })

  it("matches filters by position, and fills in values omitted at the end", () => {
    const selection = read(
      ["fv", "1"],
      ["fc", "a"],
      ["fo", "ge"],
      ["fc", "b"],
      ["fo", "empty"],
      ["fc", "a"],
      ["fo", "eq"],
    )
    assert.deepStrictEqual(selection.filters, [
      { column: "a", condition: "ge", value: "1" },
      { column: "b", condition: "empty", value: "" },
      { column: "a", condition: "eq", value: "" },
    ])
  })

  it("refuses an unknown parameter before anything else", () => {
    assert.strictEqual(refused(["limit", "0"], ["Sort", "a"]), "unknown_param Sort")
    assert.strictEqual(refused(["", ""]), "unknown_param ")
    assert.strictEqual(refused(["__proto__", ""]), "unknown_param __proto__")
  })

  it("refuses a parameter sent twice with that parameter's own code", () => {
    const codes = {
      q: "bad_selection",
      per: "bad_period",
      from: "bad_period",
      to: "bad_period",
      sort: "bad_selection",
      dir: "bad_dir",
      limit: "bad_limit",
      cursor: "bad_cursor",
    }
    for (const [name, code] of Object.entries(codes))
      assert.strictEqual(refused([name, "1"], [name, "1"]), `${code} ${name}`)
  })

  it("refuses filters that do not fit together", () => {
    assert.strictEqual(refused(["fc", "a"]), "bad_filter fo")
    assert.strictEqual(refused(["fo", "eq"]), "bad_filter fo")
    assert.strictEqual(refused(["fv", "x"]), "bad_filter fv")
    assert.strictEqual(refused(["fc", "a"], ["fo", "eq"], ["fv", "1"], ["fv", "2"]), "bad_filter fv")
    assert.strictEqual(refused(["fc", "a"], ["fo", "like"]), "bad_fo fo")
    assert.strictEqual(refused(["fc", "a"], ["fo", "EQ"]), "bad_fo fo")
    assert.strictEqual(refused(["fc", "a"], ["fo", "empty"], ["fv", "x"]), "bad_fv fv")
    assert.strictEqual(refused(["fc", "a"], ["fo", "eq"], ["fv", "a\0b"]), "bad_fv fv")
  })

  it("refuses an invalid period", () => {
    assert.strictEqual(refused(["from", "2026-01-01"]), "bad_period from")
    assert.strictEqual(refused(["to", "2026-01-01"]), "bad_period to")
    for (const day of [
      "2026-02-29",
      "2026-1-1",
      "2026-13-01",
      "0000-01-01",
      "2026-01-01T00:00:00Z",
      "today",
      "",
      "10000-01-01",
      "2026-00-10",
      "2026-04-31",
    ]) {
      assert.strictEqual(refused(["per", "d"], ["from", day]), "bad_period from", day)
    }
    assert.strictEqual(refused(["per", "d"], ["from", "2026-01-02"], ["to", "2026-01-01"]), "bad_period to")
    assert.deepStrictEqual(read(["per", "d"], ["from", "2024-02-29"]).period, {
      column: "d",
      from: "2024-02-29",
      to: null,
    })
    assert.deepStrictEqual(read(["per", "d"]).period, { column: "d", from: null, to: null })
  })

  it("refuses malformed directions, sizes and searches", () => {
    assert.strictEqual(refused(["dir", "up"]), "bad_dir dir")
    assert.strictEqual(refused(["limit", "1001"]), "bad_limit limit")
    assert.strictEqual(refused(["limit", ""]), "bad_limit limit")
    assert.strictEqual(refused(["q", "\0"]), "bad_selection q")
  })

  it("refuses column lists that contradict themselves or each other", () => {
    for (const name of ["col", "order", "hide"]) {
      assert.strictEqual(refused([name, "a"], [name, "b"], [name, "a"]), `bad_columns ${name}`)
    }
    assert.strictEqual(refused(["col", "a"], ["order", "b"]), "bad_columns order")
    assert.strictEqual(refused(["hide", "b"], ["col", "a"]), "bad_columns hide")
    assert.deepStrictEqual(read(["order", "a"], ["hide", "a"]).columns, { first: ["a"], hidden: ["a"] })
  })

  const Pair = Schema.Tuple([Schema.Literals(SELECTION_PARAMS), Schema.String])
  it.prop(
    "either reads the parameters, or refuses with a parameter's name and a sentence",
    [Schema.Array(Pair)],
    ([pairs]) => {
      const result = selectionParams(pairs)
      if (Result.isSuccess(result)) return
      assert.include(SELECTION_PARAMS as ReadonlyArray<string | null>, result.failure.param)
      assert.isAbove(result.failure.message.length, 10)
    },
    { arbitrary: { runs: 300, size: 12 } },
  )
})
