import { selectionParams, SELECTION_PARAMS } from "@data-cabinet/core/selection/SelectionParams"
import { filterGroups } from "@data-cabinet/core/row/RowReader"
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
      thenBy: [],
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

  it("joins adjacent filters by position, and by and where a join is empty or omitted", () => {
    const filters = (...joins: ReadonlyArray<string>) => {
      const five = ["a", "b", "c", "d", "e"].flatMap((name) => [["fc", name] as const, ["fo", "empty"] as const])
      return filterGroups(read(...five, ...joins.map((join) => ["fj", join] as const)).filters)
        .map((group) => group.map(({ column }) => column).join("|"))
        .join(" ")
    }
    assert.strictEqual(filters(), "a b c d e")
    assert.strictEqual(filters("or"), "a|b c d e")
    assert.strictEqual(filters("or", "or", "and", "or"), "a|b|c d|e")
    assert.strictEqual(filters("", "or", ""), "a b|c d e")
  })

  it("refuses joins that join nothing, by their position, and too many alternatives", () => {
    const filter = [["fc", "a"] as const, ["fo", "empty"] as const]
    const message = (...pairs: ReadonlyArray<readonly [string, string]>) => {
      const error = Result.getOrThrow(Result.flip(selectionParams(pairs)))
      assert.deepInclude(error, { code: "bad_filter", param: "fj" })
      return error.message
    }
    assert.strictEqual(
      message(["fj", "or"]),
      "fj number 1 joins no filters: an fj stands between two filters, and there are 0 fc.",
    )
    assert.match(message(...filter, ["fj", ""]), /^fj number 1 joins no filters/)
    assert.match(message(...filter, ...filter, ["fj", "or"], ["fj", "or"]), /^fj number 2 joins no filters/)
    assert.strictEqual(
      message(...filter, ...filter, ...filter, ["fj", "or"], ["fj", "OR"]),
      'fj number 2 is "OR"; it must be "and" or "or".',
    )
    const many = (count: number) => Array.from({ length: count }, () => filter).flat()
    assert.strictEqual(read(...many(100), ["fj", "or"]).filters.length, 100)
    assert.match(message(...many(101), ["fj", "or"]), /at most 100 filters, and this one has 101/)
    assert.strictEqual(read(...many(101), ["fj", "and"]).filters.length, 101)
  })

  it("pairs several sorts with their directions by position, ascending where one is omitted", () => {
    const { sort, direction, thenBy } = read(
      ["sort", "a"],
      ["sort", "b"],
      ["sort", "c"],
      ["dir", "desc"],
      ["dir", "desc"],
    )
    assert.deepStrictEqual([sort, direction], ["a", "desc"])
    assert.deepStrictEqual(thenBy, [
      { column: "b", direction: "desc" },
      { column: "c", direction: "asc" },
    ])
  })

  it("refuses a column that is sorted by twice, too many sorts, and a direction without its sort", () => {
    assert.strictEqual(refused(["sort", "a"], ["sort", "b"], ["sort", "a"]), "bad_selection sort")
    const sorts = Array.from({ length: 9 }, (_, at) => ["sort", `c${at}`] as const)
    assert.strictEqual(refused(...sorts), "bad_selection sort")
    assert.strictEqual(read(...sorts.slice(1)).thenBy.length, 7)
    assert.strictEqual(refused(["sort", "a"], ["dir", "asc"], ["dir", "asc"]), "bad_dir dir")
    assert.strictEqual(refused(["dir", "asc"], ["dir", "desc"]), "bad_dir dir")
    const error = Result.getOrThrow(Result.flip(selectionParams([...sorts.slice(0, 2), ["dir", "asc"], ["dir", ""]])))
    assert.strictEqual(error.message, 'dir number 2 must be asc or desc, not "".')
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
