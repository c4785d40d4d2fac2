import { encodeXlsx } from "@data-cabinet/http-node/export/XlsxRows"
import { assert, it } from "vitest"
import { readXlsx } from "hucre/xlsx"
import { itemsOf } from "../../../core/test/export/exampleItems.ts"

it("encodeXlsx writes a text as text even if it starts like a formula", async () => {
  const texts = ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", '=HYPERLINK("http://example.com")']
  const rows = texts.map((text) => JSON.stringify({ note: text }))
  const columns = [{ name: "=name", type: "text", label: "=name", comment: null }]
  const batches = (async function* () {
    yield itemsOf(...rows)
  })()
  const pieces: Array<Uint8Array> = []
  for await (const piece of encodeXlsx("formulas")({ columns, declared: [], batches })) pieces.push(piece)
  const { sheets } = await readXlsx(Buffer.concat(pieces))
  assert.deepStrictEqual(
    sheets[0]?.rows.map(([cell]) => cell),
    ["=name", ...texts],
  )
  // A formula would be a cell of another kind.
  assert.deepStrictEqual(
    [...(sheets[0]?.cells?.values() ?? [])].filter((cell) => cell.formula !== undefined),
    [],
  )
})
