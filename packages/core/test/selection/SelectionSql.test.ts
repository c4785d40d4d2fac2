import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { tableOf } from "./tables.ts"

const key = new CursorKey(Buffer.alloc(32, 7))
const NASTY = [`a"; DROP TABLE x; --`, "q", "t", "Ё\u2028", "'", "\\", "x".repeat(63), "$1", "a b"] as const

const table = tableOf(Object.fromEntries([["id", "number!"], ...NASTY.map((name) => [name, "text"])]), { key: ["id"] })

const statement = (params: ParamPairs, of = table, zone = "UTC") =>
  selectionSql(Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(params)), of, key)), zone)

/** SQL text without quoted names and literals, which leaves its shape. */
const shape = (text: string) => text.replaceAll(/"(?:[^"]|"")*"/g, "N").replaceAll(/'(?:[^']|'')*'/g, "L")

const Value = Schema.String.check(Schema.isMaxLength(30))

describe("selectionSql", () => {
  it.prop(
    "has the same text for any values, all of which are parameters",
    [Value, Value, Value, Schema.Literals(["eq", "ne", "gt", "le", "contains"])],
    ([one, two, q, condition]) => {
      const clean = (text: string) => text.replaceAll("\0", "") || "-"
      const params = (a: string, b: string, c: string): ParamPairs => [
        ...([
          ["fc", "id"],
          ["fo", condition],
          ["fv", a],
        ] as const),
        ...([
          ["fc", NASTY[0]],
          ["fo", condition],
          ["fv", b],
        ] as const),
        ["q", c],
      ]
      // Equal values would share a placeholder, so they are kept different here.
      const sent = statement(params(`1${clean(one)}`, `2${clean(two)}`, `3${clean(q)}`))
      const plain = statement(params("1", "2", "3"))
      assert.strictEqual(sent.text, plain.text)
      assert.strictEqual(sent.values.length, plain.values.length)
    },
    { arbitrary: { runs: 200, size: 30 } },
  )

  it("has the same shape for any column names", () => {
    for (const name of NASTY) {
      const asked = statement([
        ["sort", name],
        ["fc", name],
        ["fo", "eq"],
        ["fv", "1"],
        ["col", name],
      ])
      const usual = statement([
        ["sort", "a b"],
        ["fc", "a b"],
        ["fo", "eq"],
        ["fv", "1"],
        ["col", "a b"],
      ])
      assert.strictEqual(shape(asked.text), shape(usual.text), name)
    }
  })

  it("passes a cursor's values as parameters of the compared types", () => {
    const base: ParamPairs = [
      ["sort", "q"],
      ["limit", "5"],
    ]
    const walk = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(base)), table, key)).walk
    const { text, values } = statement([...base, ["cursor", encodeCursor(walk, ["'; --", "42"])]])
    assert.deepStrictEqual(values, [
      { text: "'; --", type: `"pg_catalog"."text"`, like: null },
      { text: "42", type: `"pg_catalog"."numeric"`, like: null },
    ])
    assert.include(
      text,
      `ROW("o"."q", "o"."id") OPERATOR("pg_catalog".>) ROW($1::"pg_catalog"."text", $2::"pg_catalog"."numeric")`,
    )
    assert.include(text, `WHERE "o"."q" IS NOT DISTINCT FROM NULL ORDER BY "o"."q" ASC, "o"."id" ASC LIMIT 6`)
    assert.notInclude(text, "OFFSET 5")
  })

  it("joins the filters of a group by OR, in parentheses, and the groups by AND", () => {
    const { text } = statement([
      ...new URLSearchParams("col=id&fc=id&fo=eq&fv=1&fc=q&fo=eq&fv=x&fc=t&fo=eq&fv=y&fj=or"),
    ])
    const is = (name: string, type: string, at: number) =>
      `"o"."${name}" OPERATOR("pg_catalog".=) $${at}::"pg_catalog"."${type}"`
    assert.include(
      text,
      ` WHERE (${is("id", "numeric", 1)} OR ${is("q", "text", 2)}) AND ${is("t", "text", 3)} ORDER BY`,
    )
  })

  it("starts at the value of the first of several sorts, and compares the others behind it", () => {
    const base: ParamPairs = [...new URLSearchParams("sort=q&dir=desc&sort=t&dir=asc&limit=5")]
    const walk = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(base)), table, key)).walk
    const { text } = statement([...base, ["cursor", encodeCursor(walk, ["x", null, "42"])]])
    const order = `ORDER BY "o"."q" DESC, "o"."t" ASC, "o"."id" ASC LIMIT 6`
    const x = `$1::"pg_catalog"."text"`
    assert.include(
      text,
      `WHERE "o"."q" OPERATOR("pg_catalog".<=) ${x} AND ("o"."q" OPERATOR("pg_catalog".<) ${x} OR ` +
        `("o"."q" OPERATOR("pg_catalog".=) ${x} AND "o"."t" IS NOT DISTINCT FROM NULL AND ` +
        `"o"."id" OPERATOR("pg_catalog".>) $2::"pg_catalog"."numeric")) ${order}`,
    )
    assert.include(text, `WHERE "o"."q" IS NOT DISTINCT FROM NULL ${order}`)
  })

  it("compares several sorts of one direction as one row if none can be NULL", () => {
    const strict = tableOf({ a: "number!", b: "text!", id: "number!" }, { key: ["id"] })
    const base: ParamPairs = [...new URLSearchParams("sort=a&sort=b&limit=5")]
    const walk = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(base)), strict, key)).walk
    const { text } = statement([...base, ["cursor", encodeCursor(walk, ["1", "x", "42"])]], strict)
    assert.include(text, `ROW("o"."a", "o"."b", "o"."id") OPERATOR("pg_catalog".>) ROW(`)
    assert.include(text, `ORDER BY "o"."a" ASC, "o"."b" ASC, "o"."id" ASC`)
    assert.notInclude(text, " OR ")
  })

  it("counts a further sort's type among those that may run a customer's code", () => {
    const made = { ...table.columns[1]!.type, runsNoUserCode: false }
    const of = { ...table, columns: table.columns.map((one, at) => (at === 2 ? { ...one, type: made } : one)) }
    const params: ParamPairs = [...new URLSearchParams("sort=t&col=id")]
    assert.isTrue(statement(params, of).runsNoUserCode)
    assert.isFalse(statement([...params, ["sort", of.columns[2]!.name]], of).runsNoUserCode)
  })

  it("escapes the wildcards of LIKE", () => {
    const { values } = statement([["q", "50%_\\"]])
    assert.deepStrictEqual(values, [{ text: "%50\\%\\_\\\\%", type: "pg_catalog.text", like: null }])
  })

  it("qualifies operators of other schemas, and compares column by column with them", () => {
    const operators = { schema: "ext", lt: "<", le: "<=", eq: "=", ge: ">=", gt: ">" }
    const citext = {
      kind: "text",
      sql: `"ext"."citext"`,
      name: "citext",
      operators,
      plainJson: false,
      runsNoUserCode: true,
      temporal: false,
    } as const
    const of = {
      ...table,
      columns: table.columns.map((column) =>
        column.name === "q" ? { ...column, notNull: true, type: citext } : column,
      ),
    }
    const base: ParamPairs = [["sort", "q"]]
    const walk = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(base)), of, key)).walk
    const { text } = statement([...base, ["cursor", encodeCursor(walk, ["x", "1"])]], of)
    const q = `CASE WHEN true THEN $1 ELSE "o"."q" END`
    assert.include(
      text,
      `"o"."q" OPERATOR("ext".>=) ${q} AND ("o"."q" OPERATOR("ext".>) ${q} OR ` +
        `("o"."q" OPERATOR("ext".=) ${q} AND "o"."id" OPERATOR("pg_catalog".>) $2::"pg_catalog"."numeric"))`,
    )
  })

  it("selects the shown columns by numbered names, followed by those that only positions need", () => {
    const [first, ...others] = table.columns
    const all = statement([["sort", "q"]])
    assert.deepStrictEqual(all.shown, table.columns)
    assert.deepStrictEqual(all.position, [
      { name: `"c2"`, shown: 2, type: others[1]!.type },
      { name: `"c0"`, shown: 0, type: first!.type },
    ])
    const some = statement([
      ["sort", "q"],
      ["col", "id"],
    ])
    assert.deepStrictEqual(some.shown, [first!])
    assert.deepStrictEqual(some.position, [
      { name: `"p0"`, shown: null, type: others[1]!.type },
      { name: `"c0"`, shown: 0, type: first!.type },
    ])
    assert.match(some.text, /^SELECT "o"\."id" AS "c0", "o"\."q" AS "p0" FROM "public"\."things" AS "o" ORDER BY/)
  })

  it("returns the same columns object each time all columns are chosen, as a cache key", () => {
    assert.strictEqual(statement([["sort", "q"]]).shown, statement([]).shown)
  })

  it("counts a read as free of user code only without customers' functions", () => {
    assert.isTrue(statement([]).runsNoUserCode)
    assert.isFalse(statement([], { ...table, runsNoUserCode: false }).runsNoUserCode)
  })
})
