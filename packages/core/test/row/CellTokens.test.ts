import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import { assert, it } from "vitest"

it("cellTokens cuts a row into the texts of its values", () => {
  const values = [
    "12345678901234567890.10",
    "null",
    '"a, \\"b\\": {\\\\"',
    '{"a":[1,"]}"],"b":{}}',
    "[]",
    "false",
    '""',
  ]
  const row = `{${values.map((value, at) => `"c\\"${at}":${value}`).join(",")}}`
  assert.deepStrictEqual(cellTokens(row), values)
  assert.deepStrictEqual(cellTokens("{}"), [])
})

it("shownText keeps digits, decodes a text, and shows null as nothing", () => {
  assert.strictEqual(shownText("0.10"), "0.10")
  assert.strictEqual(shownText('"\\u0410\\n\\"<"'), 'А\n"<')
  assert.strictEqual(shownText("null"), "")
})
