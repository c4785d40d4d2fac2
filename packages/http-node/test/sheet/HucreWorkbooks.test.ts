import { writeXlsx } from "hucre/xlsx"
import { assert, it } from "vitest"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"

it("readWorkbook reads what hucre writes, the library of our exports", async () => {
  const rows = [
    ["name", "n", "ok", "at"],
    ["Ёж & <сын>", 0.1, true, new Date(Date.UTC(2024, 2, 1, 9, 30, 15))],
    [" x ", -1e21, false, null],
  ]
  const bytes = await writeXlsx({ sheets: [{ name: "Data", rows }] })
  const { sheet, rows: read } = await readSheet(bytes)
  assert.strictEqual(sheet, "Data")
  assert.deepStrictEqual(
    read.map(({ cells }) => cells.filter((cell) => cell !== null)),
    [
      ["name", "n", "ok", "at"],
      ["Ёж & <сын>", 0.1, true, "2024-03-01T09:30:15"],
      [" x ", -1e21, false],
    ],
  )
})
