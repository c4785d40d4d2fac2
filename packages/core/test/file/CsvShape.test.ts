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
