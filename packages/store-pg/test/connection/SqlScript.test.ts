import { splitStatements } from "@data-cabinet/store-pg/connection/SqlScript"
import { assert, it } from "vitest"

it.each<[string, string, ReadonlyArray<string>]>([
  ["plain statements", "SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]],
  ["a literal with a semicolon", "SELECT ';', 'it''s;'; SELECT 2", ["SELECT ';', 'it''s;'", "SELECT 2"]],
  ["an escape literal", "SELECT E'\\';'; SELECT 2", ["SELECT E'\\';'", "SELECT 2"]],
  ["a plain literal that ends in a backslash", "SELECT '\\'; SELECT 2", ["SELECT '\\'", "SELECT 2"]],
  ["a quoted name", 'SELECT 1 AS "a;""b"; SELECT 2', ['SELECT 1 AS "a;""b"', "SELECT 2"]],
  ["dollar quotes", "DO $x$ BEGIN; $$ ; END $x$; SELECT 2", ["DO $x$ BEGIN; $$ ; END $x$", "SELECT 2"]],
  ["a dollar inside a name", "SELECT a$b$c; SELECT 2", ["SELECT a$b$c", "SELECT 2"]],
  ["parameters", "SELECT $1; SELECT $2", ["SELECT $1", "SELECT $2"]],
  ["line comments", "SELECT 1 -- no; end\n; -- only a comment;\n", ["SELECT 1 -- no; end"]],
  ["nested block comments", "SELECT /* a /* ; */ ; */ 1; SELECT 2", ["SELECT /* a /* ; */ ; */ 1", "SELECT 2"]],
  [
    "a rule with several commands",
    "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3",
    ["CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)", "SELECT 3"],
  ],
  [
    "a function body in SQL",
    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END; SELECT 3",
    ["CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END", "SELECT 3"],
  ],
  ["a transaction", "BEGIN; SELECT 1; END;", ["BEGIN", "SELECT 1", "END"]],
  ["nothing", " ;; -- \n /* */ ;", []],
  ["an unfinished literal", "SELECT 'a; b", ["SELECT 'a; b"]],
])("splitStatements leaves %s whole", (_, script, statements) => {
  assert.deepStrictEqual(splitStatements(script), statements)
})
