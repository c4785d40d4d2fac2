/** Several hundred workbooks, each written in one of the ways that programs write them, and all read alike. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { assert, describe, it } from "vitest"
import { corpus } from "../../../../test/support/workbooks/corpus.ts"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"
import type { Content } from "../../../../test/support/workbooks/contents.ts"

const expected = ({ rows }: Content): ReadonlyArray<SheetRow> =>
  rows.map(({ line, cells }) => ({ line, cells: cells.map((cell) => cell?.read ?? null) }))

describe("readWorkbook reads every cell", () => {
  it("of at least 200 workbooks", () => {
    assert.isAbove(corpus().length, 200)
  })

  it.each(corpus().map((one) => [one.name, one] as const))("of %s", async (_, { bytes, content }) => {
    const { sheet, rows } = await readSheet(bytes())
    assert.strictEqual(sheet, "Data")
    assert.deepStrictEqual(rows, expected(content))
  })
})
