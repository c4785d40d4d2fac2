import { scriptAct } from "@data-cabinet/core/audit/ScriptAct"
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
