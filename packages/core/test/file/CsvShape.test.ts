import { assert, it } from "vitest"
import { csvShape } from "../../src/file/CsvShape.ts"

const shape = (text: string, given = {}) => csvShape(text, true, given)

it("csvShape detects the delimiter, even where another candidate occurs inside cells", () => {
  assert.strictEqual(shape("a;b;c\n1,5;2,5;3\n1,0;2;3\n").delimiter, ";")
  assert.strictEqual(shape('name,note\nAnn,"a; b; c"\nBob,x\n').delimiter, ",")
  assert.strictEqual(shape("a\tb\n1,1\t2\n").delimiter, "\t")
  assert.strictEqual(shape("a|b\n1|2\n").delimiter, "|")
  assert.strictEqual(shape("alone\n1\n2\n").delimiter, ",")
  assert.deepInclude(shape("sep=|\r\na,b|c\r\n"), { delimiter: "|", skip: 7 })
  assert.strictEqual(shape("a;b\n", { delimiter: "," }).delimiter, ",")
})

it("csvShape takes the first line as the header unless it has values (years aside)", () => {
  assert.isTrue(shape("id,name\n1,Ann\n").header)
  assert.isFalse(shape("1,Ann\n2,Bob\n").header)
  assert.isFalse(shape("Ann,2024-03-01\nBob,2024-03-02\n").header)
  assert.isTrue(shape("Region,2023,2024\nNorth,1,2\n").header)
  assert.isTrue(shape("1,Ann\n", { header: true }).header)
})

it("csvShape prefers the delimiter that most lines agree on, and of equals the one with more cells", () => {
  assert.strictEqual(shape("a,b;c;d\n1,2;3;4\n").delimiter, ";")
  assert.strictEqual(shape("a;b,c\n1;2\n3;4\n5;6\n").delimiter, ";")
  assert.strictEqual(shape("a,b;c\n1,2\n").delimiter, ",")
  assert.strictEqual(shape("").delimiter, ",")
})

it("csvShape reads what a file's first line declares, in any case, and nothing else that begins so", () => {
  assert.deepInclude(shape("SEP=\t\na,b\tc\n"), { delimiter: "\t", skip: 6, header: true })
  assert.deepInclude(shape("sep=;\n1;2\n", { delimiter: "," }), { delimiter: ",", skip: 6 })
  for (const text of ["sep=;;\na,b\n", "xsep=;\na,b\n", "a,b\nsep=;\n"]) assert.deepInclude(shape(text), { skip: 0 })
})

it("csvShape leaves a last line out that may be cut", () => {
  const text = "a;b\n1;2\n3,4,5,6,7,8"
  assert.strictEqual(csvShape(text, false, {}).delimiter, ";")
  assert.isTrue(csvShape("1,2", false, {}).header)
  assert.isFalse(csvShape("1,2", true, {}).header)
})

it.each([
  ["1", true],
  ["-1.5", true],
  ["+1 234,5", true],
  ["1e5", true],
  ["50%", true],
  [".5", true],
  ["1.3.2024", true],
  ["2024/3/1 9:30", true],
  ["2024-03-01T09:30:00Z", true],
  [" 7 ", true],
  ["1999", false],
  ["2101", true],
  ["20245", true],
  ["A1", false],
  ["1A", false],
  ["1-2", false],
  ["2024-03-01x", false],
  ["", false],
  ["1".repeat(64), true],
  ["1".repeat(65), false],
])("a first line with %j has values: %j", (cell, isValue) => {
  assert.strictEqual(shape(`name,${cell}\nx,y\n`).header, !isValue)
})
