/** How much of a machine workbooks may take: each of them, and all at once. */
import type { FileError } from "@data-cabinet/core/file/FileError"
import type { ZipEntry } from "./ZipDirectory.ts"

export interface SheetLimits {
  readonly archiveBytes: number
  /** Of all parts of the archive together, as its directory says. */
  readonly unpackedBytes: number
  /** Of one part that is read whole, as its directory says: all but the rows of a sheet, which are read as they come. */
  readonly partBytes: number
  readonly heapMegabytes: number
  /** Of what the thread holds outside of its heap: the archive, and what of it is unpacked and not yet text. */
  readonly outsideMegabytes: number
  /** Until the first row, and between two batches. */
  readonly idleMillis: number
  /** Workbooks that are read at once by a process; the others wait. */
  readonly atOnce: number
  /** How long a workbook waits for its turn. */
  readonly waitMillis: number
}

export const SHEET_LIMITS: SheetLimits = {
  archiveBytes: 128 * 1024 ** 2,
  unpackedBytes: 2 * 1024 ** 3,
  partBytes: 128 * 1024 ** 2,
  heapMegabytes: 1024,
  outsideMegabytes: 768,
  idleMillis: 60_000,
  atOnce: 2,
  waitMillis: 60_000,
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`

const isRows = (name: string): boolean => /^\/?xl\/worksheets\/[^/]+\.xml$/i.test(name)

/** Only such parts are ever read; pictures and the like may be as large as they are. */
const isRead = (name: string): boolean => /\.(?:xml|rels)$/i.test(name)

/** A refusal as a thread can send it. */
export interface SheetRefusal {
  readonly refused: FileError["code"]
  readonly message: string
}

const refusal = (refused: FileError["code"], message: string): SheetRefusal => ({ refused, message })

/** Why such an archive is not read; undefined where it is. A part that does not say its size could have any. */
export const refusedArchive = (entries: ReadonlyArray<ZipEntry>, limits: SheetLimits): SheetRefusal | undefined => {
  let total = 0
  for (const { name, unpacked, packed } of entries) {
    total += unpacked
    if (isRows(name) || !isRead(name)) continue
    if (unpacked > limits.partBytes) {
      return refusal(
        "too_large",
        `The part ${name.slice(0, 100)} of the workbook says that it unpacks into ${megabytes(unpacked)}; at most ${megabytes(limits.partBytes)} are read. Save the workbook as CSV, which has no limit.`,
      )
    }
    if (unpacked === 0 && packed > 2) {
      return refusal(
        "unreadable",
        `The workbook cannot be read: its part ${name.slice(0, 100)} does not say how large it is.`,
      )
    }
  }
  return total <= limits.unpackedBytes
    ? undefined
    : refusal(
        "too_large",
        `The workbook says that it unpacks into ${megabytes(total)}; at most ${megabytes(limits.unpackedBytes)} are read.`,
      )
}
