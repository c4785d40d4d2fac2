import { assert, it } from "vitest"
import { JsonNumber, type JsonObject } from "../../src/json/Json.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { DoubtLog } from "../../src/file/Doubt.ts"
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

it("HeaderedRows makes nothing of blank lines below a blank line", () => {
  assert.deepStrictEqual(items(true, ["  "], [" "], [""]), [])
  assert.deepStrictEqual(items(true, ["  "], ["1"]), ["the row has 1 cells, but the header has 0"])
})

it("HeaderedRows leaves out rows that repeat the header, and reports them", () => {
  const found: Array<string> = []
  const doubts = new DoubtLog()
  const item = (_line: number, payload: JsonObject) => void found.push(jsonText(payload))
  const reader = new HeaderedRows({ item, refuse: () => assert.fail() }, true, doubts)
  const header = ["id", " name ", "", "id", ""]
  const rows = [header, ["1", "x"], header, ["\uFEFFid", "name", "", "id"], ["id", "name", "x", "id"], ["id", "name"]]
  rows.forEach((cells, n) => reader.row({ line: n + 1, cells }))
  assert.deepStrictEqual(found, [
    '{"id":"1","name":"x"}',
    '{"id":["id","id"],"name":"name","column3":"x"}',
    '{"id":"id","name":"name"}',
  ])
  assert.deepStrictEqual(
    doubts.all.map(({ kind, places, message }) => [kind, places.map(({ line }) => line), message]),
    [["headers_skipped", [3, 4], "2 rows repeat the header and are left out."]],
  )
  assert.deepStrictEqual(items(true, ["name"], ["name"]), ['{"name":"name"}'])
  assert.deepStrictEqual(items(false, ["a", "b"], ["a", "b"]), [
    '{"column1":"a","column2":"b"}',
    '{"column1":"a","column2":"b"}',
  ])
})

it("HeaderedRows keeps __proto__ as a field", () => {
  assert.deepStrictEqual(items(true, ["__proto__", "10", "2"], ["x", "y", "z"]), ['{"__proto__":"x","10":"y","2":"z"}'])
})

it("formatOf decides by the file name, then by the beginning of the text", () => {
  assert.strictEqual(formatOf("x.JSONL", "[1]"), "ndjson")
  assert.strictEqual(formatOf("x", ' [{"a":1}]'), "json")
  assert.strictEqual(formatOf("x", '{"a":1}\n{"a":2}\n'), "ndjson")
  assert.strictEqual(formatOf("x", '{"a":\n1}'), "json")
  assert.strictEqual(formatOf("x.txt", "a,b"), "csv")
})

it.each([
  ['{"error":"rate limited"}', "json"],
  [' [\n {"id": 1}]', "json"],
  ['{"id":1}\n{"id":2}\n', "ndjson"],
  ["{id},name\n1,x\n", "csv"],
  ['"{""a"":1}";b\n1;2\n', "csv"],
  ["[1],b\n", "csv"],
])("formatOf reads %j in a file named .csv as %s", (text, format) => {
  assert.strictEqual(formatOf("x.csv", text), format)
})

const refusals = (header: ReadonlyArray<string>, row: Parameters<HeaderedRows["row"]>[0]) => {
  const found: Array<readonly [number, number | null, string]> = []
  const reader = new HeaderedRows(
    {
      item: (line, payload) => found.push([line, null, jsonText(payload)]),
      refuse: ({ line, column, reason }) => found.push([line, column, reason]),
    },
    true,
  )
  reader.row({ line: 1, cells: header })
  reader.row(row)
  return found
}

it("HeaderedRows reports the position of the first cell without a name, or its number", () => {
  const reason = "the row has 3 cells, but the header has 1"
  assert.deepStrictEqual(refusals(["a"], { line: 7, cells: ["1", "2", "3"] }), [[7, 2, reason]])
  assert.deepStrictEqual(refusals(["a"], { line: 7, cells: ["1", "2", "3"], columns: [1, 9, 12] }), [[7, 9, reason]])
})

it("HeaderedRows refuses a short row at the end of a file, and accepts one anywhere else", () => {
  const cut = "the file ends here in the middle of a row: it has 1 cells, but the header has 2"
  assert.deepStrictEqual(refusals(["a", "b"], { line: 7, cells: ["1"], last: true }), [[7, null, cut]])
  assert.deepStrictEqual(refusals(["a", "b"], { line: 7, cells: ["1"], last: false }), [[7, null, '{"a":"1"}']])
  assert.deepStrictEqual(refusals(["a", ""], { line: 7, cells: ["1"], last: true }), [[7, null, '{"a":"1"}']])
})

it("HeaderedRows names fields by the trimmed text of the header's cells, and ignores trailing empty cells", () => {
  const found: Array<string> = []
  const reader = new HeaderedRows(
    { item: (_, payload) => found.push(jsonText(payload)), refuse: () => assert.fail() },
    true,
  )
  assert.deepStrictEqual(reader.names, [])
  reader.row({ line: 1, cells: [" a ", new JsonNumber("2024"), true, null, "b", " ", null] })
  assert.deepStrictEqual(reader.names, ["a", "2024", "true", "column4", "b"])
  reader.row({ line: 2, cells: ["1", "2", "3", "4", "5", "", null] })
  assert.deepStrictEqual(found, ['{"a":"1","2024":"2","true":"3","column4":"4","b":"5"}'])
})
