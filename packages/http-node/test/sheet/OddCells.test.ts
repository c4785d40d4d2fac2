/** Cells as odd programs write them, each with its value. */
import { assert, describe, it } from "vitest"
import { CONTENTS } from "../../../../test/support/workbooks/contents.ts"
import { odsWorkbook } from "../../../../test/support/workbooks/odsWorkbooks.ts"
import { ooxmlWorkbook } from "../../../../test/support/workbooks/ooxmlWorkbooks.ts"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"

const goods = CONTENTS[0]!

/** Styles: 1 a day, 2 a time, 3 a duration, 4 a moment, 5 and 6 own formats, 7 percent, 8 hours beyond a day. */
const rowsOf = async (rows: string) => {
  const bytes = ooxmlWorkbook(goods, {
    name: "raw",
    xml: (xml, part) =>
      part === "xl/worksheets/sheet1.xml" ? `<worksheet><sheetData>${rows}</sheetData></worksheet>` : xml,
  })
  const read = await readSheet(bytes)
  return read.rows.map(
    ({ cells, refusal }) =>
      refusal?.reason ?? cells.map((cell) => (typeof cell === "object" && cell !== null ? cell.digits : cell)),
  )
}

type Case = readonly [title: string, rows: string, values: ReadonlyArray<unknown>]

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`

const CELLS: ReadonlyArray<Case> = [
  ["40 digits", "<row><c><v>1234567890123456789012345678901234567890</v></c></row>", [["1234567890123456789012345678901234567890"]]],
  ["a fraction that no double has", "<row><c><v>0.12345678901234567890123</v></c></row>", [["0.12345678901234567890123"]]],
  ["a double's noise", "<row><c><v>0.30000000000000004</v></c><c><v>19.989999999999998</v></c></row>", [[0.30000000000000004, 19.989999999999998]]],
  ["an exponent", "<row><c><v>1E-3</v></c><c><v>-2.5e+2</v></c></row>", [[0.001, -250]]],
  ["spaces around a number", "<row><c><v> 7 </v></c></row>", [[7]]],
  ["a percent", '<row><c s="7"><v>0.125</v></c></row>', [[0.125]]],
  ["a time of day, a day and a moment", '<row><c s="2"><v>0.75</v></c><c s="1"><v>45000</v></c><c s="4"><v>45000.5</v></c></row>', [["18:00:00", "2023-03-15", "2023-03-15T12:00:00"]]],
  ["durations beyond a day and below zero", '<row><c s="3"><v>2.25</v></c><c s="8"><v>-0.5</v></c></row>', [["54:00:00", "-12:00:00"]]],
  ["milliseconds", '<row><c s="2"><v>0.5000058</v></c></row>', [["12:00:00.501"]]],
  ["a negative number under a day's format", '<row><c s="1"><v>-5</v></c></row>', [[-5]]],
  ["the day that 1900 did not have, and its neighbours", '<row><c s="1"><v>59</v></c><c s="1"><v>60</v></c><c s="1"><v>61</v></c></row>', [["1900-02-28", 60, "1900-03-01"]]],
  ["a shared formula with its values", '<row><c><f t="shared" ref="A1:B1" si="0">1+1</f><v>2</v></c><c><f t="shared" si="0"/><v>3</v></c></row>', [[2, 3]]],
  ["a formula's text and truth", '<row><c t="str"><f>T(1)</f><v>x</v></c><c t="b"><f>TRUE()</f><v>1</v></c></row>', [["x", true]]],
  ["runs with a reading aid", '<row><c t="inlineStr"><is><r><t>東</t></r><r><t xml:space="preserve"> 京</t></r><rPh sb="0" eb="1"><t>トウ</t></rPh></is></c></row>', [["東 京"]]],
  ["an escaped character and an escaped escape", `<row>${text("a_x0009_b_x005F_x0009_")}</row>`, [["a\tb_x0009_"]]],
  ["entities and CDATA", "<row><c t=\"str\"><v>&lt;&#1078;&amp;<![CDATA[<&amp;]]></v></c></row>", [["<ж&<&amp;"]]],
  ["an error", '<row><c t="e"><v>#REF!</v></c></row>', [["#REF!"]]],
  ["merged cells, of which one has the value", `<row r="1">${text("a").replace("<c ", '<c r="A1" ')}<c r="B1"/><c r="C1"/></row>`, [["a"]]],
  ["cells without references behind one with", `<row r="1"><c r="C1"><v>1</v></c><c><v>2</v></c></row>`, [[null, null, 1, 2]]],
  ["a truth that is written out", '<row><c t="b"><v>TRUE</v></c><c t="b"><v>false</v></c></row>', [[true, false]]],
] // prettier-ignore

describe("readWorkbook reads a worksheet's cells", () => {
  it.each(CELLS.map((one) => [one[0], one] as const))("with %s", async (_, [, rows, values]) =>
    assert.deepStrictEqual(await rowsOf(rows), values),
  )
})

const odsRows = async (rows: string) => {
  const bytes = odsWorkbook(goods, {
    name: "raw",
    xml: (xml) => xml.replace(/(?<=<table:table table:name="Data">).*(?=<\/table:table>)/s, rows),
  })
  const read = await readSheet(bytes)
  return read.rows.map(({ line, cells }) => [
    line,
    ...cells.map((cell) => (typeof cell === "object" && cell !== null ? cell.digits : cell)),
  ])
}

const cell = (attributes: string, shown = "") =>
  `<table:table-cell ${attributes}><text:p>${shown}</text:p></table:table-cell>`
const row = (cells: string, attributes = "") => `<table:table-row ${attributes}>${cells}</table:table-row>`

const ODS: ReadonlyArray<Case> = [
  ["a cell that is repeated", row(cell('office:value-type="float" office:value="5" table:number-columns-repeated="3"', "5")), [[1, 5, 5, 5]]],
  ["a row that is repeated", row(cell('office:value-type="string"', "x"), 'table:number-rows-repeated="2"'), [[1, "x"], [2, "x"]]],
  ["a million empty rows in between", row("<table:table-cell/>", 'table:number-rows-repeated="1048000"') + row(cell('office:value-type="string"', "x")), [[1_048_001, "x"]]],
  ["money", row(cell('office:value-type="currency" office:currency="EUR" office:value="1234.5"', "1.234,50 €")), [[1, 1234.5]]],
  ["a percent", row(cell('office:value-type="percentage" office:value="0.5"', "50 %")), [[1, 0.5]]],
  ["cells that a merged one covers", row(cell('office:value-type="string" table:number-columns-spanned="2"', "x") + '<table:covered-table-cell/>' + cell('office:value-type="string"', "y")), [[1, "x", null, "y"]]],
  ["a day and a moment", row(cell('office:value-type="date" office:date-value="2024-02-29"', "29.02.24") + cell('office:value-type="date" office:date-value="2024-02-29T23:59:59.5"', "…")), [[1, "2024-02-29", "2024-02-29T23:59:59.5"]]],
  ["a duration of days", row(cell('office:value-type="time" office:time-value="PT100H30M05S"', "100:30:05")), [[1, "100:30:05"]]],
  ["a truth", row(cell('office:value-type="boolean" office:boolean-value="true"', "WAHR")), [[1, true]]],
  ["two paragraphs, spaces and a tab", row('<table:table-cell office:value-type="string"><text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p><text:p>d</text:p></table:table-cell>'), [[1, "a   b\tc\nd"]]],
  ["a note that is no text of the cell", row('<table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p></office:annotation><text:p>x</text:p></table:table-cell>'), [[1, "x"]]],
  ["a list in a cell", row('<table:table-cell office:value-type="string"><text:list><text:list-item><text:p>a</text:p></text:list-item></text:list><text:p>b</text:p></table:table-cell>' + cell('office:value-type="string"', "y")), [[1, "a\nb", "y"]]],
  ["an empty value beside its text", row(cell('office:value-type="float" office:value=""', "5")), [[1, "5"]]],
  ["a long number", row(cell('office:value-type="float" office:value="12345678901234567890"', "1,23E+19")), [[1, "12345678901234567890"]]],
] // prettier-ignore

describe("readWorkbook reads the cells of an ODS table", () => {
  it.each(ODS.map((one) => [one[0], one] as const))("with %s", async (_, [, rows, values]) =>
    assert.deepStrictEqual(await odsRows(rows), values),
  )
})
