/** The first visible sheet with rows is read, and a workbook without rows is refused. */
import { assert, describe, it } from "vitest"
import { CONTENTS } from "../../../../test/support/workbooks/contents.ts"
import { odsWorkbook } from "../../../../test/support/workbooks/odsWorkbooks.ts"
import { ooxmlWorkbook } from "../../../../test/support/workbooks/ooxmlWorkbooks.ts"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"

const goods = CONTENTS[0]!

/** The sheets Old and Data. */
interface Book {
  readonly isOldHidden?: boolean
  readonly isOldFilled?: boolean
  readonly isDataEmpty?: boolean
}

const xlsx = ({ isOldHidden = false, isOldFilled = false, isDataEmpty = false }: Book) =>
  ooxmlWorkbook(goods, {
    name: "two",
    before: "hidden",
    xml: (xml, part) => {
      if (part === "xl/workbook.xml") return isOldHidden ? xml : xml.replace(' state="hidden"', "")
      const isEmptied = part.endsWith("sheet9.xml") ? !isOldFilled : part.endsWith("sheet1.xml") && isDataEmpty
      const blank = '<row r="1"><c r="A1" t="str"><v></v></c></row>'
      return isEmptied ? xml.replace(/(?<=<sheetData>).*(?=<\/sheetData>)/s, blank) : xml
    },
  })

const ods = ({ isOldHidden = false, isOldFilled = false, isDataEmpty = false }: Book) =>
  odsWorkbook(goods, {
    name: "two",
    before: `<table:table table:name="Old"${isOldHidden ? ' table:style-name="away"' : ""}><table:table-row table:number-rows-repeated="7">${isOldFilled ? '<table:table-cell office:value-type="float" office:value="9"/>' : "<table:table-cell/>"}</table:table-row></table:table>`,
    xml: (xml) => (isDataEmpty ? xml.replace(/(?<=table:name="Data">).*(?=<\/table:table>)/s, "") : xml),
  })

describe.each([
  ["XLSX", xlsx],
  ["ODS", ods],
] as const)("readWorkbook of %s", (_, book) => {
  const fault = async (of: Book, wanted?: string) => {
    try {
      await readSheet(book(of), wanted)
    } catch (cause) {
      const { message, isChoice } = cause as Error & { isChoice: boolean }
      return [message, isChoice]
    }
    return assert.fail("it was read")
  }

  it("skips empty sheets, and counts them", async () => {
    const { sheet, empty, rows } = await readSheet(book({}))
    assert.deepStrictEqual([sheet, empty, rows.length, rows[0]!.line], ["Data", 1, goods.rows.length, 1])
    assert.deepInclude(await readSheet(book({ isOldFilled: true })), { sheet: "Old", empty: 0 })
    assert.deepInclude(await readSheet(book({ isOldHidden: true })), { sheet: "Data", empty: 0 })
    assert.deepInclude(await readSheet(book({}), "Data"), { sheet: "Data", empty: 0 })
  })

  it("refuses a sheet without rows, and names the others", async () => {
    const ofOld = "its sheet Old is empty; its other sheets are Data"
    assert.deepStrictEqual(await fault({}, "Old"), [ofOld, true])
    assert.deepStrictEqual(await fault({}, "1"), [ofOld, true])
    const hidden = { isOldHidden: true, isOldFilled: true, isDataEmpty: true }
    assert.deepStrictEqual(await fault(hidden), ["its sheet Data is empty; its other sheets are Old", true])
    assert.deepStrictEqual(await fault({ isDataEmpty: true }), ["its sheets Old, Data are empty", false])
  })
})
