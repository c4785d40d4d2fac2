/** Reads the rows of one sheet of a workbook of any kind. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { archiveKind } from "./ArchiveKind.ts"
import { OdsRows } from "./OdsRows.ts"
import { OoxmlRows } from "./OoxmlRows.ts"
import { openWorkbook } from "./OoxmlWorkbook.ts"
import { Parts } from "./Parts.ts"
import { RowQueue } from "./RowQueue.ts"
import type { SheetLimits } from "./SheetLimits.ts"
import { type ZipEntry, zipEntries } from "./ZipArchive.ts"

export interface WorkbookReading {
  /** The sheet's name, or its number from 1; undefined for the first visible one. */
  readonly wanted: string | undefined
  readonly limits: SheetLimits
  /** The most characters of a row: a longer row is reported without its cells. */
  readonly rowCharacters: number
  /** Called once, with the sheet's name, before its rows. */
  readonly named: (sheet: string) => void
  readonly send: (rows: ReadonlyArray<SheetRow>) => void
}

/** Fails with a `SheetFault` if the workbook cannot be read to its end. */
export const readWorkbook = async (bytes: Uint8Array, reading: WorkbookReading): Promise<void> => {
  const { limits, rowCharacters } = reading
  const parts = new Parts(bytes, zipEntries(bytes), limits)
  const archive = await archiveKind(parts)
  const queue = new RowQueue(rowCharacters, reading.send)
  if (archive.kind === "ods") await readOds(parts, archive.content, reading, queue)
  else {
    const { part, context } = await openWorkbook(parts, archive.workbook, archive.types, reading)
    queue.allow(part.unpacked)
    const rows = new OoxmlRows(context, (row) => queue.add(row))
    for await (const _ of parts.scan(part, rows));
  }
  queue.flush()
}

const readOds = async (parts: Parts, content: ZipEntry, reading: WorkbookReading, queue: RowQueue): Promise<void> => {
  queue.allow(content.unpacked)
  const emit = (row: SheetRow) => queue.add(row)
  const read = async (hasVisible: boolean) => {
    const rows = new OdsRows({ ...reading, emit }, hasVisible)
    for await (const _ of parts.scan(content, rows));
    return rows
  }
  const rows = await read(true)
  if (rows.isFound) return
  const again = reading.wanted === undefined ? await read(false) : rows
  again.end()
}
