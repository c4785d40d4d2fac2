import { assert, it } from "vitest"
import { csvShape } from "../../src/file/CsvShape.ts"

const shape = (text: string, given = {}) => csvShape(text, true, given)

it("csvShape detects the delimiter, even where another candidate occurs inside cells", () => {
  assert.strictEqual(shape("a;b;c\n1,5;2,5;3\n1,0;2;3\n").delimiter, ";")
  assert.strictEqual(shape('name,note\nAnn,"a; b; c"\nBob,x\n').delimiter, ",")
  assert.strictEqual(shape("a\tb\n1,1\t2\n").delimiter, "\t")
  assert.strictEqual(shape("a|b\n1|2\n").delimiter, "|")
  assert.strictEqual(shape("name &amp; x,n\nTom &#38; Jo,1\nA &#x26; B,2\n").delimiter, ",")
  assert.strictEqual(shape("name &amp; x;n\nTom &#38; Jo;1\n").delimiter, ";")
  assert.strictEqual(shape("alone\n1\n2\n").delimiter, ",")
  assert.deepInclude(shape("sep=|\r\na,b|c\r\n"), { delimiter: "|", firstLine: 2 })
  assert.strictEqual(shape("a;b\n", { delimiter: "," }).delimiter, ",")
})

it("csvShape detects rare delimiters below a line of names, unless a usual one divides every line", () => {
  for (const delimiter of ["^", "~", "\u00A6", "\u001F", "\u0001"]) {
    const text = "id,name,note\n1,Ann,x\n2,Bob,y\n".replaceAll(",", delimiter)
    assert.deepInclude(shape(text), { delimiter, header: true })
    assert.strictEqual(shape(text.replace("x", "a, b").replace("y", "c; d; e")).delimiter, delimiter)
  }
  for (const text of ["a^b,c^d\n1^2,3^4\n", "1^2\n3^4\n", "a^b\n1\n", "a^a\n1^2\n", "a^b\n", "a^b~c\n1^2~3\n"])
    assert.strictEqual(shape(text).delimiter, ",", text)
  assert.strictEqual(shape("a^b;c\n1^2;3\n").delimiter, ";")
})

it("csvShape asks whether colons separate cells", () => {
  assert.deepStrictEqual(
    shape("user:uid:home\nann:1:/home/ann\n").readings.map(({ delimiter }) => delimiter),
    ["", ":"],
  )
  for (const text of [
    "name: Ann\ncity: Rome\n",
    "at\n10:20:30\n",
    "10:20:30\n10:21:30\n",
    "a:b:c\n",
    "a:b:c\n1:2:3,4\n",
  ])
    assert.deepStrictEqual(shape(text).readings, [], text)
})

it("csvShape treats the first line as the header unless it has values other than years", () => {
  assert.isTrue(shape("id,name\n1,Ann\n").header)
  assert.isFalse(shape("1,Ann\n2,Bob\n").header)
  assert.isFalse(shape("Ann,2024-03-01\nBob,2024-03-02\n").header)
  assert.isTrue(shape("Region,2023,2024\nNorth,1,2\n").header)
  assert.isTrue(shape("1,Ann\n", { header: true }).header)
})

it("csvShape prefers the delimiter that most lines agree on, then the one with more cells", () => {
  assert.strictEqual(shape("a,b;c;d\n1,2;3;4\n").delimiter, ";")
  assert.strictEqual(shape("a;b,c\n1;2\n3;4\n5;6\n").delimiter, ";")
  assert.strictEqual(shape("a,b;c\n1,2\n").delimiter, ",")
  assert.strictEqual(shape("").delimiter, ",")
})

it("csvShape reads the declaration in a file's first line, in upper or lower case", () => {
  assert.deepInclude(shape("SEP=\t\na,b\tc\n"), { delimiter: "\t", firstLine: 2, header: true })
  assert.deepInclude(shape("sep=;\n1;2\n", { delimiter: "," }), { delimiter: ",", firstLine: 2 })
  for (const text of ["sep=;;\na,b\n", "xsep=;\na,b\n", "a,b\nsep=;\n"])
    assert.deepInclude(shape(text), { firstLine: 1 })
})

it("csvShape ignores a last line that may be cut", () => {
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

it.each([
  ["Сумма, руб.;НДС, руб.\n1,50;0,30\n12,00;2,40\n", ";"],
  ["Товар;Цена, руб.\nЧай;1,50\nКофе;3,20\n", ";"],
  ["April 15, 2023;4028;25.00;Ray;p;\nApril 14, 2023;4441;25.00;Sam;p;\nApril 9, 2023;6783;25.00;Lon;\n", ";"],
  ["Name;Adresse\nA;Str. 5, Hof\nB;Weg 1\nC;Pl. 2, EG, links\n", ";"],
  ["Name|Tel\nDoe, John|1\nRoe, Ann|2\n", "|"],
  ["a\tb, c\n1,5\t2\n2,5\t3\n", "\t"],
  ["name;lat,lon\nA;55.1,37.2\nB;54.3,36.1\n", ";"],
  ['id;doc\n1;{"a":1,"b":2}\n2;{"a":3,"b":4}\n', ";"],
  ['id,doc\n1,"{""a"";1}"\n2,"x;y"\n', ","],
  ["when,what\n2026-01-01 10:00,a;b\n2026-01-01 11:00,c\n", ","],
  ["id,name,tags\n1,Anna,x|y\n2,Bob,z|w\n", ","],
  ["id,name,tags\n1,2,3|4\n2,3,4|5\n", ","],
  ["a, b, c\n1, 2, 3\n", ","],
  ['"a","b;c"\n"1;2","3"\n', ","],
  ["Name\tBetrag\nA\t1,234,567\nB\t2,345\n", "\t"],
  ["price\n1,50\n2,30\n", ""],
  ["note\nHello, world\nNice\nOnce, twice, thrice\n", ""],
  ["a;b\r1;2,5\r3;4,5\r", ";"],
  ['"sep=|"\r\na;1|b\r\n', "|"],
])("csvShape reads %j with the delimiter %j", (text, delimiter) => {
  assert.deepInclude(shape(text), { delimiter, readings: [] })
})

it.each<[string, ReadonlyArray<string>]>([
  ["a;b|c\n1;2|3\n4;5|6\n", [";", "|"]],
  ["a\tb;c\n1\t2;3\n", [";", "\t"]],
  ["id,name,tags;x\n1,Anna,x;y\n2,Bob,z;w\n", [";", ","]],
  ["1,50\n2,30\n", [",", ""]],
  ["a;b\tc|d\nx;y\tz|w\n", [";", "\t", "|"]],
])("csvShape leaves the choice to the caller when %j fits several delimiters", (text, delimiters) => {
  const { readings } = shape(text)
  assert.deepStrictEqual(
    readings.map(({ delimiter }) => delimiter),
    delimiters,
  )
  for (const { preview } of readings) assert.isNotEmpty(preview)
  for (const delimiter of delimiters) assert.deepInclude(shape(text, { delimiter }), { delimiter, readings: [] })
})

it("csvShape also reports the comma that fits as well as the semicolon that it chose", () => {
  const text = "Nachname,Vorname;Alter\nMüller,Hans;30\nMaier,Anna;40\n"
  assert.deepInclude(shape(text), { delimiter: ";", passedOver: ",", readings: [] })
})

it.each<[string, number, boolean]>([
  ["Report\n\nDate;Sum\n01.03.2026;1\n", 3, true],
  ["Report\nDate;Sum\n01.03.2026;1\n", 2, true],
  ["Report;;\n;;\nDate;Sum;Name\n01.03.2026;1;x\n", 3, true],
  ["Company: X\nPeriod: March, 2026\n\nA;B;C\nx;y;z\nu;v;w\n", 4, true],
  ["sep=;\nReport\n\nDate;Sum\n01.03.2026;1\n", 4, true],
  ["Period;March\n\nDate;Sum;Name\n1.1.2026;2;x\n1.2.2026;3;y\n", 3, true],
  ["a,b\n1,2,3\n4,5,6\n", 1, true],
  ["Name\nAnna,Petrova\nIvan,Sidorov\n", 1, true],
  ["Name;\nAnna;5\n", 1, true],
  ["1;2\n\n3;4\n", 1, false],
])("csvShape begins the table in %j at line %d with header %j", (text, firstLine, header) => {
  assert.deepInclude(shape(text), { firstLine, header })
})

it("csvShape begins at the header line that the caller names", () => {
  const text = "Period;March\nBranch;Moscow\nDate,Sum\n1.1.2026,2\n"
  assert.deepInclude(shape(text, { headerRow: 3 }), { firstLine: 3, header: true, delimiter: ",", titles: 0 })
  assert.deepInclude(shape(text, { header: false }), { firstLine: 1, header: false })
})
