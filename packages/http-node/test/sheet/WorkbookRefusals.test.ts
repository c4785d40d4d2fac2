/**
 * A workbook must never become a row with a silently empty cell. Each of these refusals names the row and the column.
 */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { assert, describe, it } from "vitest"
import { CONTENTS, type Content } from "../../../../test/support/workbooks/contents.ts"
import { odsWorkbook } from "../../../../test/support/workbooks/odsWorkbooks.ts"
import { ooxmlWorkbook, type Way } from "../../../../test/support/workbooks/ooxmlWorkbooks.ts"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"
import { zipOf } from "../../../../test/support/workbooks/zipOf.ts"

const goods: Content = CONTENTS[0]!

const sheetXml = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`

/** A workbook with exactly these rows. */
const raw = (rows: string, way: Partial<Way> = {}) =>
  ooxmlWorkbook(goods, {
    name: "raw",
    ...way,
    xml: (xml, part) => (part === "xl/worksheets/sheet1.xml" ? sheetXml(rows) : xml),
  })

const ods = (rows: string) =>
  odsWorkbook(goods, {
    name: "raw",
    xml: (xml) =>
      xml.replace(
        /<table:table name="Data">.*<\/table:table>|(?<=<table:table table:name="Data">).*(?=<\/table:table>)/s,
        rows,
      ),
  })

const fault = async (bytes: Uint8Array, wanted?: string): Promise<string> => {
  try {
    await readSheet(bytes, wanted)
  } catch (cause) {
    return (cause as Error).message
  }
  return assert.fail("it was read")
}

const rowsOf = async (bytes: Uint8Array): Promise<ReadonlyArray<SheetRow>> => (await readSheet(bytes)).rows

describe("readWorkbook refuses a row by its line and column", () => {
  it.each([
    [
      "a shared text that does not exist",
      '<c r="C2" t="s"><v>99</v></c>',
      3,
      /cell C2: the workbook has no shared text 99/,
    ],
    ["a shared text without a number", '<c r="A2" t="s"><v>x</v></c>', 1, /cell A2/],
    ["two cells in one place", '<c r="A2"><v>1</v></c><c r="A2"><v>2</v></c>', 1, /cell A2: it occurs twice/],
    ["a formula without a value", '<c r="B2"><f>A1+1</f></c>', 2, /cell B2: its formula has no value/],
    ["a formula with an empty value", '<c r="B2"><f>A1+1</f><v/></c>', 2, /cell B2/],
    ["a column behind the last", '<c r="XFE2"><v>1</v></c>', 16_384, /at most 16384 columns/],
  ])("with %s, and reads the others", async (_, cells, column, words) => {
    const bytes = raw(
      `<row r="1"><c r="A1"><v>1</v></c></row><row r="2">${cells}</row><row r="3"><c r="A3"><v>3</v></c></row>`,
    )
    const [first, second, third] = await rowsOf(bytes)
    assert.deepStrictEqual(
      [first, third],
      [
        { line: 1, cells: [1] },
        { line: 3, cells: [3] },
      ],
    )
    assert.deepInclude(second, { line: 2, cells: [] })
    assert.strictEqual(second!.refusal!.column, column)
    assert.match(second!.refusal!.reason, words)
  })

  it("with a formula of ODS without a value", async () => {
    const [row] = await rowsOf(
      ods('<table:table-row><table:table-cell/><table:table-cell table:formula="of:=1"/></table:table-row>'),
    )
    assert.deepInclude(row!.refusal, { column: 2 })
  })
})

it.each([
  ['<row r="1"><c r="A1"><v>1</w></c></row>', /sheet1\.xml is not well-formed XML at character 48: the end tag <\/w>/],
  ['<row r="1"><c r="A1"><v>&no;</v></c></row>', /sheet1\.xml is not well-formed XML at character 47: &no; is not a/],
  ['<row r="1"', /sheet1\.xml is not well-formed XML at character 23: two attributes/],
])("readWorkbook refuses %s by its part and the place in it", async (rows, words) => {
  assert.match(await fault(raw(rows)), words)
})

it("readWorkbook refuses a text in an element that it does not know", async () => {
  const inline = raw('<row r="2"><c r="A2" t="inlineStr"><is><b><t>x</t></b></is></c></row>')
  assert.match(await fault(inline), /row 2: the element <b> is not expected here/)
  const shared = ooxmlWorkbook(goods, {
    name: "raw",
    xml: (xml, part) => (/sharedStrings/i.test(part) ? xml.replaceAll(/<(\/?)t\b/g, "<$1text") : xml),
  })
  assert.match(await fault(shared), /its shared texts contain an element <text>/)
})

describe("readWorkbook reads a value unchanged when its type does not fit", () => {
  it.each([
    ['<c t="b"><v>maybe</v></c>', "maybe"],
    ["<c><v>1,5</v></c>", "1,5"],
    ['<c t="x"><v>y</v></c>', "y"],
    ['<c t="inlineStr"><v>in the value</v></c>', "in the value"],
    ["<c><is><t>without a type</t></is></c>", "without a type"],
    ['<c t="d"><v>2024-03-01T09:30:00.000Z</v></c>', "2024-03-01T09:30:00Z"],
    ['<c t="str"><f>A1</f></c><c><v>1</v></c>', null],
    ['<c s="77"><v>5</v></c>', 5],
    ['<c s="1"><v>79160000001</v></c>', 79_160_000_001],
    ['<c s="1"><v>2958470</v></c>', 2_958_470],
    ['<c t="str"><v>a_x0041__x005F_x0042__x0000__xD800_</v></c>', "a_x0041__x005F_x0042__x0000__xD800_"],
    ['<c t="str"><v>a_x0041__x005F_x0042_</v></c>', "aA_x0042_"],
  ])("%s", async (cell, value) => {
    assert.strictEqual((await rowsOf(raw(`<row>${cell}</row>`)))[0]!.cells[0], value)
  })
})

describe("readWorkbook reads rows by their numbers", () => {
  const row = (n: number) => `<row r="${n}"><c><v>${n}</v></c></row>`
  const lines = async (numbers: ReadonlyArray<number>) =>
    (await rowsOf(raw(numbers.map(row).join("")))).map(({ line, cells }) => [line, cells[0]])

  it("in whatever order they come", async () => {
    assert.deepStrictEqual(
      await lines([5, 4, 9, 1, 7]),
      [1, 4, 5, 7, 9].map((n) => [n, n]),
    )
    const many = Array.from({ length: 6_000 }, (_, n) => n + 1)
    const read = await lines(many.map((n) => (n % 2 === 0 ? n - 1 : n + 1)))
    assert.deepStrictEqual(
      read,
      many.map((n) => [n, n]),
    )
  })

  it("but none that is thousands of rows late, nor a row twice", async () => {
    const many = Array.from({ length: 9_000 }, (_, n) => n + 2)
    assert.match(await fault(raw([...many, 1].map(row).join(""))), /row 1 comes after row \d{4}/)
    assert.match(await fault(raw([1, 3, 2, 3].map(row).join(""))), /row 3 occurs twice/)
  })
})

describe("readWorkbook refuses a workbook that it cannot read whole", () => {
  it.each([
    ["a row twice", '<row r="1"><c><v>1</v></c></row><row r="1"><c><v>1</v></c></row>', /row 1 occurs twice/],
    ["a row before the first", '<row r="1"><c><v>1</v></c></row><row r="0"><c><v>1</v></c></row>', /it has a row 0/],
    ["a cell of another row", '<row r="1"><c r="A2"><v>1</v></c></row>', /row 1: the cell A2 belongs to another row/],
    ["an unreadable reference", '<row r="1"><c r="7"><v>1</v></c></row>', /row 1: the reference 7/],
    ["an unknown element", '<row r="1"><d r="A1"><v>1</v></d></row>', /row 1: the element <d>/],
    ["two values", '<row r="1"><c><v>1</v><v>2</v></c></row>', /row 1: a cell has two values/],
    ["a choice of contents", '<row r="1"><mc:AlternateContent/></row>', /row 1: the element <mc:AlternateContent>/],
    ["an element that does not end", '<row r="1"><c><v>1</c></row>', /not well-formed/],
  ])("with %s", async (_, rows, words) => {
    assert.match(await fault(raw(rows)), words)
  })

  it("when a part is changed, cut off or missing", async () => {
    const bytes = ooxmlWorkbook(goods, { name: "stored", zip: { isStored: true } })
    const at = bytes.indexOf("<v>12.5</v>")
    assert.match(await fault(Buffer.from(bytes).fill("9", at + 3, at + 4)), /checksum/)
    assert.match(await fault(bytes.subarray(0, at)), /truncated/)
    const lacking = (missing: string) =>
      ooxmlWorkbook(goods, { name: "lacking", part: (name) => (name === missing ? "else.xml" : name) })
    assert.match(await fault(lacking("xl/worksheets/sheet1.xml")), /part of its sheet Data is missing/)
    assert.match(await fault(lacking("xl/styles.xml")), /styles\.xml is missing/)
    assert.deepInclude((await rowsOf(lacking("xl/sharedStrings.xml")))[0]!.refusal, { column: 1 })
    const twice = zipOf([
      ["xl/a.xml", "1"],
      ["XL/A.xml", "2"],
    ])
    assert.match(await fault(twice), /twice/)
  })

  it("when bytes do not fit their encoding", async () => {
    const bytes = (xml: string) => Buffer.from(xml, "latin1")
    assert.match(await fault(raw('<row><c t="str"><v>\u00e4</v></c></row>', { bytes })), /not text in its encoding/)
    const unknown = (xml: string) => Buffer.from(xml.replace("UTF-8", "klingon"))
    assert.match(
      await fault(ooxmlWorkbook(goods, { name: "", bytes: unknown })),
      /encoding klingon, which is not supported/,
    )
  })

  it("by the cell when it holds a table of its own", async () => {
    const inner = "<table:table><table:table-row/></table:table>"
    const rows = await rowsOf(ods(`<table:table-row><table:table-cell>${inner}</table:table-cell></table:table-row>`))
    assert.match(rows[0]!.refusal!.reason, /cell A1: it holds a table of its own/)
  })

  it("when ODS repeats a row too often", async () => {
    const repeated = (count: number) =>
      ods(
        `<table:table-row table:number-rows-repeated="${count}"><table:table-cell office:value-type="float" office:value="1"/></table:table-row>`,
      )
    assert.strictEqual((await rowsOf(repeated(1000))).length, 1000)
    assert.match(await fault(repeated(200_000)), /row 1 is repeated 200000 times/)
    const wide =
      '<table:table-row table:number-rows-repeated="90000"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/></table:table-row>'
    assert.match(await fault(ods(wide)), /much larger than its part/)
  })
})

it("readWorkbook refuses a sheet whose few cells are spread over very many rows", async () => {
  const row = (line: number) => `<row r="${line}"><c r="XFD${line}"><v>1</v></c></row>`
  const sheet = (count: number) => raw(Array.from({ length: count }, (_, n) => row(n + 1)).join(""))
  assert.strictEqual((await rowsOf(sheet(200))).length, 200)
  assert.match(await fault(sheet(400)), /row 246: .* by cells that are far apart/)
})

it("readWorkbook keeps all white space of an ODS text, as LibreOffice does", async () => {
  const cell = (paragraphs: string) => `<table:table-cell office:value-type="string">${paragraphs}</table:table-cell>`
  const rows = [
    ["<text:p>  a \n b\tc  </text:p>", "  a \n b\tc  "],
    ['<text:p><text:s/>a<text:s text:c="3"/>b<text:tab/><text:line-break/></text:p>', " a   b\t\n"],
    ["<text:p>a <text:span> b</text:span></text:p><text:p/>", "a  b\n"],
    ["<text:p>a<text:note>no</text:note><text:a>link</text:a></text:p>", "alink"],
  ] as const
  for (const [paragraphs, text] of rows) {
    const [row] = await rowsOf(ods(`<table:table-row>${cell(paragraphs)}</table:table-row>`))
    assert.strictEqual(row!.cells[0], text)
  }
})

describe("readWorkbook names the kinds that it does not read", () => {
  const typed = (type: string) =>
    zipOf([
      ["mimetype", type],
      ["content.xml", "<x/>"],
    ])
  it.each([
    [typed("application/vnd.oasis.opendocument.text"), /OpenDocument text \(\.odt\)/],
    [typed("application/vnd.oasis.opendocument.presentation"), /OpenDocument presentation/],
    [typed("application/vnd.oasis.opendocument.spreadsheet"), /not that of an OpenDocument spreadsheet \(\.ods\)/],
    [typed("application/epub+zip"), /EPUB/],
    [zipOf([["word/document.xml", "<x/>"]]), /Word document/],
    [zipOf([["ppt/presentation.xml", "<x/>"]]), /PowerPoint/],
    [zipOf([["xl/workbook.bin", "x"]]), /binary workbook \(\.xlsb\)/],
    [
      ooxmlWorkbook(goods, {
        name: "",
        part: (name) => name.replace("workbook.xml", "workbook.bin"),
        xml: (xml) => xml.replaceAll("xl/workbook.xml", "xl/workbook.bin"),
      }),
      /\.xlsb/,
    ],
    [zipOf([["Index/Document.iwa", "x"]]), /Apple Numbers/],
    [zipOf([["META-INF/MANIFEST.MF", "x"]]), /Java archive/],
    [
      zipOf([
        ["orders.csv", "a,b\n"],
        ["b.csv", "a"],
      ]),
      /zip archive of other files \(orders\.csv, b\.csv\)/,
    ],
    [zipOf([]), /empty zip archive/],
    [ooxmlWorkbook(goods, { name: "", zip: { flags: 1 } }), /encrypted/],
    [ooxmlWorkbook(goods, { name: "", zip: { method: 9 } }), /Deflate64/],
    [
      zipOf([
        ["mimetype", "application/vnd.oasis.opendocument.spreadsheet"],
        ["content.xml", "x"],
        ["META-INF/manifest.xml", '<manifest:encryption-data manifest:checksum="x"/>'],
      ]),
      /encrypted; save the workbook without a password/,
    ],
  ])("%#: by its name", async (bytes, words) => {
    assert.match(await fault(bytes), words)
  })

  it("when the sheet is a chart, or does not exist", async () => {
    const chart = ooxmlWorkbook(goods, { name: "", before: "chart" })
    assert.match(await fault(chart, "Chart"), /its sheet Chart is a chart and has no cells/)
    assert.match(await fault(chart, "1"), /is a chart/)
    assert.match(await fault(chart, "Nothing"), /no sheet Nothing; its sheets are Chart, Data/)
    assert.strictEqual((await readSheet(chart, "2")).sheet, "Data")
    const hidden = ooxmlWorkbook(goods, { name: "", before: "hidden" })
    assert.deepStrictEqual((await readSheet(hidden, "Old")).rows, [{ line: 1, cells: [9] }])
    const book = odsWorkbook(goods, { name: "" })
    assert.match(await fault(book, "Nothing"), /no sheet Nothing; its sheets are Data/)
    assert.strictEqual((await readSheet(book, "1")).sheet, "Data")
  })

  it("when all sheets are hidden it reads the first", async () => {
    const away = ooxmlWorkbook(goods, {
      name: "",
      xml: (xml) => xml.replace('name="Data"', 'name="Data" state="veryHidden"'),
    })
    assert.strictEqual((await readSheet(away)).rows.length, 4)
    const odsAway = odsWorkbook(goods, {
      name: "",
      xml: (xml) => xml.replace('table:name="Data"', 'table:name="Data" table:style-name="away"'),
    })
    assert.strictEqual((await readSheet(odsAway)).rows.length, 4)
  })
})
