/** Reads a workbook in this thread. */
import { MAX_ITEM_LENGTH } from "@data-cabinet/core/file/FileItem"
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { readWorkbook } from "@data-cabinet/http-node/sheet/ReadWorkbook"
import { SHEET_LIMITS, type SheetLimits } from "@data-cabinet/http-node/sheet/SheetLimits"

export const readSheet = async (
  bytes: Uint8Array,
  wanted?: string,
  limits: Partial<SheetLimits> = {},
): Promise<{ readonly sheet: string | undefined; readonly empty: number; readonly rows: ReadonlyArray<SheetRow> }> => {
  const rows: Array<SheetRow> = []
  let sheet: string | undefined
  let empty = 0
  await readWorkbook(bytes, {
    wanted,
    limits: { ...SHEET_LIMITS, ...limits },
    rowCharacters: MAX_ITEM_LENGTH,
    named: (name, before) => {
      sheet = name
      empty = before
    },
    send: (batch) => {
      rows.push(...batch)
    },
  })
  return { sheet, empty, rows }
}
