/** Reads the rows of one sheet of a workbook of any kind: of the chosen one, or of the first with rows. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { archiveKind } from "./ArchiveKind.ts"
import { OdsRows } from "./OdsRows.ts"
import { OoxmlRows } from "./OoxmlRows.ts"
import { openWorkbook } from "./OoxmlWorkbook.ts"
import { Parts } from "./Parts.ts"
import { RowQueue } from "./RowQueue.ts"
import { emptySheets } from "./SheetList.ts"
import type { SheetLimits } from "./SheetLimits.ts"
import { zipEntries } from "./ZipArchive.ts"

export interface WorkbookReading {
  /** The sheet's name, or its number from 1; undefined for the first visible one with rows. */
  readonly wanted: string | undefined
  readonly limits: SheetLimits
  /** The most characters of a row: a longer row is reported without its cells. */
  readonly rowCharacters: number
  /** Called once, with the sheet's name, before its rows. `empty`: the number of sheets before it that have no rows. */
  readonly named: (sheet: string, empty: number) => void
  readonly send: (rows: ReadonlyArray<SheetRow>) => void
}

/** Fails with a `SheetFault` if the workbook cannot be read to its end, or if it has no rows. */
export const readWorkbook = async (bytes: Uint8Array, reading: WorkbookReading): Promise<void> => {
  const { limits, wanted, rowCharacters } = reading
  const parts = new Parts(bytes, zipEntries(bytes), limits)
  const archive = await archiveKind(parts)
  const queue = new RowQueue(rowCharacters, reading.send)
  const empty: Array<string> = []
  let found = false
  /** Takes the rows of a sheet from its first filled one on. */
  const rowsOf = (sheet: string) => (row: SheetRow) => {
    if (!found) {
      if (isBlank(row)) return
      found = true
      reading.named(sheet, empty.length)
    }
    queue.add(row)
  }
  let names: ReadonlyArray<string>
  if (archive.kind === "ods") {
    queue.allow(archive.content.unpacked)
    const sheet = (name: string) => ({
      emit: rowsOf(name),
      end: () => {
        if (!found) empty.push(name)
        return found
      },
    })
    names = await readOds(
      async (rows) => {
        for await (const _ of parts.scan(archive.content, rows));
      },
      { wanted, rowCharacters, sheet },
    )
  } else {
    const workbook = await openWorkbook(parts, archive.workbook, archive.types, reading)
    names = workbook.names
    for (const { name, part } of workbook.sheets) {
      queue.allow(part().unpacked)
      const rows = new OoxmlRows(workbook.context, rowsOf(name))
      for await (const _ of parts.scan(part(), rows));
      if (found) break
      empty.push(name)
    }
  }
  if (!found) throw emptySheets(empty, names)
  queue.flush()
}

const isBlank = ({ cells, refusal, tooLong }: SheetRow): boolean =>
  refusal === undefined && tooLong === undefined && cells.every((cell) => cell === null || cell === "")

/** Hidden sheets are read only if no sheet is visible, which is known at the end. Returns the names of all sheets. */
const readOds = async (
  scan: (rows: OdsRows) => Promise<void>,
  options: Omit<ConstructorParameters<typeof OdsRows>[0], "hidden">,
): Promise<ReadonlyArray<string>> => {
  let rows = new OdsRows({ ...options, hidden: false })
  await scan(rows)
  if (!rows.hasRead && options.wanted === undefined) {
    rows = new OdsRows({ ...options, hidden: true })
    await scan(rows)
  }
  rows.end()
  return rows.names
}
