/** Writes exported rows to their output, and reports progress. */
import type { EncodedRows, RowEncoder } from "@data-cabinet/core/export/ExportFormat"
import type { Output } from "../output/OutputFile.ts"

export interface Written {
  rows: number
  bytes: number
}

/** Called with what has been written so far. */
export type OnProgress = (written: Readonly<Written>) => void

export const writeRows = async (
  rows: EncodedRows,
  encode: RowEncoder,
  output: Output,
  tell: OnProgress,
): Promise<Readonly<Written>> => {
  const written: Written = { rows: 0, bytes: 0 }
  const batches = async function* () {
    for await (const items of rows.batches) {
      written.rows += items.length
      yield items
    }
  }
  for await (const bytes of encode({ ...rows, batches: batches() })) {
    await output.write(bytes)
    written.bytes += bytes.length
    tell(written)
  }
  await output.finish()
  return written
}
