import { scriptAct } from "@data-cabinet/core/acts/ScriptAct"
import { assert, it } from "vitest"

it("scriptAct names the statements of a script and none of their contents", () => {
  const { changes } = scriptAct([
    "CREATE TABLE hush (a int)",
    "  -- hush\n/* hush **/ alter role hush PASSWORD 'hush'",
    "SELECT hush FROM x",
    "insert into hush values ('hush')",
    "hush",
    "",
  ])
  assert.deepStrictEqual(changes, {
    statements: 6,
    begin: ["CREATE TABLE", "ALTER ROLE", "SELECT", "INSERT INTO", "OTHER", "OTHER"],
  })
})

it.each([
  ["SELECT", "SELECT"],
  ["DROP TABLE", "DROP TABLE\thush"],
  ["CREATE", "CREATE hush TABLE"],
  ["OTHER", "hush DROP TABLE"],
  ["OTHER", "-- DROP TABLE"],
  ["OTHER", "/* DROP TABLE */"],
  ["OTHER", "/* DROP TABLE"],
  ["DROP TABLE", "--\nDROP TABLE hush"],
  ["DROP TABLE", "/**/DROP TABLE hush"],
  ["DROP TABLE", "/* it's * a * hush */ DROP TABLE hush"],
  ["DROP TABLE", "/***hush***/\n-- hush\n/* hush */DROP TABLE hush"],
  ["DROP TABLE", "DROP \t\n TABLE hush"],
])("scriptAct says %s of %j", (words, statement) => {
  assert.deepStrictEqual(scriptAct([statement]).changes["begin"], [words])
})

it("scriptAct counts the statements, and lists the first twenty", () => {
  const { action, object, changes } = scriptAct(Array.from({ length: 21 }, () => "SELECT 1"))
  assert.deepStrictEqual([action, object, changes["statements"]], ["sql.run", null, 21])
  assert.deepStrictEqual(
    changes["begin"],
    Array.from({ length: 20 }, () => "SELECT"),
  )
})
