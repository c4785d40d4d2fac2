import { assert, it } from "vitest"
import { jsonText } from "../../src/json/JsonText.ts"
import { HeaderedRows } from "../../src/file/HeaderedRows.ts"
import { formatOf } from "../../src/file/FileFormat.ts"

const items = (hasHeader: boolean, ...rows: ReadonlyArray<ReadonlyArray<string | null>>) => {
  const found: Array<string> = []
  const reader = new HeaderedRows(
    { item: (_line, payload) => found.push(jsonText(payload)), refuse: ({ reason }) => found.push(reason) },
    hasHeader,
  )
  rows.forEach((cells, n) => reader.row({ line: n + 1, cells }))
  return found
}

it("HeaderedRows collects the cells of a repeated name in a list", () => {
  assert.deepStrictEqual(items(true, ["a", "b", "a"], ["1", "2", "3"]), ['{"a":["1","3"],"b":"2"}'])
})

it("HeaderedRows names an unnamed column by its number, avoiding a name that is taken", () => {
  assert.deepStrictEqual(items(true, ["column2", "", "c"], ["1", "2", "3"]), ['{"column2":"1","column2_":"2","c":"3"}'])
  assert.deepStrictEqual(items(false, ["1", "2"]), ['{"column1":"1","column2":"2"}'])
})

it("HeaderedRows omits fields of a shorter row and refuses a longer one, unless the extra cells are empty", () => {
  assert.deepStrictEqual(items(true, ["a", "b"], ["1"], ["1", "2", "", " "], ["1", "2", "3"]), [
    '{"a":"1"}',
    '{"a":"1","b":"2"}',
    "the row has 3 cells, but the header has 2",
  ])
})

it("HeaderedRows keeps __proto__ as a field", () => {
  assert.deepStrictEqual(items(true, ["__proto__", "10", "2"], ["x", "y", "z"]), ['{"__proto__":"x","10":"y","2":"z"}'])
})

it("formatOf decides by magic bytes, then the file name, then the beginning of the text", () => {
  const zip = Buffer.from([0x50, 0x4b, 3, 4])
  assert.strictEqual(formatOf("x.csv", zip, ""), "xlsx")
  assert.strictEqual(formatOf("x.JSONL", Buffer.of(), "[1]"), "ndjson")
  assert.strictEqual(formatOf("x", Buffer.of(), ' [{"a":1}]'), "json")
  assert.strictEqual(formatOf("x", Buffer.of(), '{"a":1}\n{"a":2}\n'), "ndjson")
  assert.strictEqual(formatOf("x", Buffer.of(), '{"a":\n1}'), "json")
  assert.strictEqual(formatOf("x.txt", Buffer.of(), "a,b"), "csv")
})
