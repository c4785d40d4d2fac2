/** Each condition of a selection as SQL; store-pg tests on PostgreSQL that the SQL means the same. */
import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { foldedText } from "@data-cabinet/core/selection/FoldedText"
import { SqlParameters } from "@data-cabinet/core/selection/SqlParameters"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { scalar, tableOf } from "./tables.ts"

const key = new CursorKey(Buffer.alloc(32, 7))
const table = tableOf({ id: "number!", name: "text", doc: "jsonb", sent: "json" }, { key: ["id"] })

const statement = (params: ParamPairs, of = table) =>
  selectionSql(Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(params)), of, key)), "UTC")

/** The SQL between WHERE and ORDER BY, and its values. */
const where = (params: ParamPairs, of = table) => {
  const { text, values } = statement(params, of)
  return { sql: /WHERE (.*) ORDER BY/.exec(text)?.[1], values: values.map((value) => value.text) }
}

const filter = (fc: string, fo: string, fv: string): ParamPairs => [
  ["fc", fc],
  ["fo", fo],
  ["fv", fv],
]

describe("conditionsSql", () => {
  it.each([
    ["eq", "="],
    ["gt", ">"],
    ["ge", ">="],
    ["lt", "<"],
    ["le", "<="],
  ])("compares by the operator of the type: %s is %s", (fo, operator) => {
    assert.deepStrictEqual(where(filter("id", fo, "7")), {
      sql: `"o"."id" OPERATOR("pg_catalog".${operator}) $1::"pg_catalog"."numeric"`,
      values: ["7"],
    })
  })

  it("treats NULL as unequal to every value", () => {
    assert.deepStrictEqual(where(filter("id", "ne", "7")), {
      sql: `("o"."id" OPERATOR("pg_catalog".=) $1::"pg_catalog"."numeric") IS NOT TRUE`,
      values: ["7"],
    })
  })

  it("tests each kind of column for emptiness in its own way, and for its opposite", () => {
    const isNull = (name: string) => `"o"."${name}" IS NOT DISTINCT FROM NULL`
    assert.deepStrictEqual(where(filter("id", "empty", "")), { sql: `(${isNull("id")})`, values: [] })
    assert.deepStrictEqual(where(filter("id", "notempty", "")), { sql: `NOT (${isNull("id")})`, values: [] })
    for (const [name, other] of [
      ["name", `OPERATOR(pg_catalog.=) ''`],
      [
        "doc",
        `("o"."doc")::pg_catalog.jsonb OPERATOR(pg_catalog.=) ANY ('{"null","{}","[]","\\"\\""}'::pg_catalog.jsonb[])`,
      ],
      ["sent", `("o"."sent")::pg_catalog.text OPERATOR(pg_catalog.~) '^\\s*(null|\\{\\s*\\}|\\[\\s*\\]|"")\\s*$'`],
    ] as const) {
      const { sql, values } = where(filter(name, "empty", ""))
      assert.isTrue(sql?.startsWith(`(${isNull(name)} OR `), sql)
      assert.include(sql, other)
      assert.deepStrictEqual(values, [])
      assert.strictEqual(where(filter(name, "notempty", "")).sql, `NOT ${sql}`)
    }
  })

  it("folds both sides of contains under the table's collation", () => {
    const collation = `"pg_catalog"."pg_c_utf8"`
    assert.deepStrictEqual(where(filter("name", "contains", "a")), {
      sql:
        `(${foldedText(`("o"."name")::pg_catalog.text`, collation, scalar("text"))} OPERATOR(pg_catalog.~~) ` +
        `${foldedText("$1::pg_catalog.text", collation, null)})`,
      values: ["%a%"],
    })
    // Digits have only one form.
    assert.include(
      where(filter("id", "contains", "1")).sql,
      `(pg_catalog.upper(("o"."id")::pg_catalog.text COLLATE ${collation}) OPERATOR(pg_catalog.~~) (SELECT `,
    )
  })

  it("joins all conditions, and searches each of the columns", () => {
    const { sql, values } = where([...filter("id", "gt", "7"), ["q", "a_b"]])
    assert.isTrue(sql?.startsWith(`"o"."id" OPERATOR("pg_catalog".>) $1::"pg_catalog"."numeric" AND (`), sql)
    assert.lengthOf(sql?.split("OPERATOR(pg_catalog.~~)") ?? [], 5)
    // The pattern is one parameter, however many columns are searched.
    assert.deepStrictEqual(values, ["7", "%a\\_b%"])
  })

  it("matches no row of an object without columns, and every row without a condition", () => {
    const bare = tableOf({})
    assert.strictEqual(
      /WHERE false/.exec(statement([["q", "a"]], { ...bare, identity: "text" }).text)?.[0],
      "WHERE false",
    )
    assert.notInclude(statement([]).text, "WHERE")
  })

  it("uses the index of whole rows first if there is one, and then checks the columns", () => {
    const indexed = { ...table, searchIndexed: true }
    const columns = where([["q", "a"]]).sql!
    const { sql, values } = where([["q", "a"]], indexed)
    assert.isTrue(sql?.endsWith(` AND ${columns}`), sql)
    assert.deepStrictEqual(values, ["%a%"])
    assert.isTrue(statement([["q", "a"]], indexed).replan)
    assert.isFalse(statement([["q", "a"]]).replan)
    assert.isFalse(statement([], indexed).replan)
  })
})

describe("selectionSql", () => {
  const strange = { ...scalar("text"), runsNoUserCode: false }
  const of = {
    ...table,
    columns: table.columns.map((column) => (column.name === "name" ? { ...column, type: strange } : column)),
  }
  const free = (params: ParamPairs, asked = of) => statement([["col", "id"], ...params], asked).runsNoUserCode

  it("counts a read without columns of user-defined types as free of user code", () => {
    assert.isTrue(free([]))
    assert.isFalse(statement([["col", "name"]], of).runsNoUserCode)
    assert.isFalse(statement([], of).runsNoUserCode)
    assert.isFalse(free([["sort", "name"]]))
    assert.isFalse(free(filter("name", "empty", "")))
    assert.isFalse(free([["q", "a"]]))
    assert.isTrue(free(filter("id", "eq", "1")))
    assert.isFalse(free([], { ...of, identity: "text" }))
  })
})

describe("selectionSql of an object without a key and without places", () => {
  const text = { ...tableOf({ a: "text", b: "number" }), identity: "text" } as const
  const walk = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams([])), text, key)).walk
  const rows =
    `SELECT "o"."a" AS "c0", "o"."b" AS "c1", ("w"."text" COLLATE "pg_catalog"."C") AS "p0", "w"."hash" AS "p1"` +
    ` FROM "public"."things" AS "o" CROSS JOIN LATERAL (SELECT pg_catalog.left("x"."text", 200) AS "text",` +
    ` pg_catalog.sha256(pg_catalog.convert_to("x"."text", 'UTF8')) AS "hash" FROM (SELECT` +
    ` (ROW("o"."a", "o"."b"))::pg_catalog.text AS "text" OFFSET 0) AS "x") AS "w"`
  const order = ` ORDER BY ("w"."text" COLLATE "pg_catalog"."C") ASC, "w"."hash" ASC`
  const after =
    ` WHERE ROW(("w"."text" COLLATE "pg_catalog"."C"), "w"."hash") OPERATOR("pg_catalog".>=)` +
    ` ROW($1::pg_catalog.text, $2::pg_catalog.bytea)`
  const page = (...position: ReadonlyArray<string>) => {
    const cursor: ParamPairs = position.length === 0 ? [] : [["cursor", encodeCursor(walk, position)]]
    return statement([["limit", "5"], ...cursor], text).text
  }

  it("reads rows in the order of their text, and skips rows equal to the last one that were already shown", () => {
    assert.strictEqual(page(), `${rows}${order} LIMIT 6`)
    assert.strictEqual(page("x", "\\x00", "0"), `${rows}${after}${order} LIMIT 6`)
    assert.strictEqual(page("x", "\\x00", "3"), `${rows}${after}${order} LIMIT 9 OFFSET 3`)
  })
})

describe("SqlParameters", () => {
  it("reuses a placeholder only for the same text with the same type", () => {
    const parameters = new SqlParameters()
    const added = [
      ["a", "x"],
      ["b", "x"],
      ["a", "y"],
      ["b", "x"],
      ["a", "x"],
    ].map(([text, type]) => parameters.add(text!, type!))
    const { text, values } = parameters.statement(added.join(" "))
    assert.strictEqual(text, "$1::x $2::x $3::y $2::x $1::x")
    assert.lengthOf(values, 3)
  })

  it("numbers only the parameters that the statement uses, in the order of their use", () => {
    const parameters = new SqlParameters()
    const [a, , c] = ["a", "left out", "c"].map((text) => parameters.add(text, "x"))
    const { text, values } = parameters.statement(`${c} ${a} ${c}`)
    assert.strictEqual(text, "$1::x $2::x $1::x")
    assert.deepStrictEqual(
      values.map((value) => value.text),
      ["c", "a"],
    )
  })
})
