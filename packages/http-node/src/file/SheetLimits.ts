/** How much of a machine workbooks may use: each of them, and all at once. */
import type { FileError } from "@data-cabinet/core/file/FileError"
import type { ZipEntry } from "./ZipDirectory.ts"

export interface SheetLimits {
  readonly archiveBytes: number
  /** Of all parts of the archive in total, according to its directory. */
  readonly unpackedBytes: number
  /**
   * Of one part that is read whole, according to the directory: every part except the rows of a sheet, which are streamed.
   */
  readonly partBytes: number
  readonly heapMegabytes: number
  /** Memory of the thread outside its heap: the archive, and the part of it that is unpacked and not yet text. */
  readonly outsideMegabytes: number
  /** Until the first row, and between two batches. */
  readonly idleMillis: number
  /** Workbooks that a process reads at once; others wait. */
  readonly atOnce: number
  /** How long a workbook waits for a slot. */
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

/** Only these parts are ever read; pictures and the like may have any size. */
const isRead = (name: string): boolean => /\.(?:xml|rels)$/i.test(name)

/** A refusal in a form that a thread can send. */
export interface SheetRefusal {
  readonly refused: FileError["code"]
  readonly message: string
}

const refusal = (refused: FileError["code"], message: string): SheetRefusal => ({ refused, message })

/** Why such an archive is refused; undefined if it is not. A part that does not declare its size could have any. */
export const refusedArchive = (entries: ReadonlyArray<ZipEntry>, limits: SheetLimits): SheetRefusal | undefined => {
  let total = 0
  for (const { name, unpacked, packed } of entries) {
    total += unpacked
    if (isRows(name) || !isRead(name)) continue
    if (unpacked > limits.partBytes) {
      return refusal(
        "too_large",
        `The part ${name.slice(0, 100)} of the workbook declares an unpacked size of ${megabytes(unpacked)}; at most ${megabytes(limits.partBytes)} are accepted. Save the workbook as CSV, which has no such limit.`,
      )
    }
    if (unpacked === 0 && packed > 2) {
      return refusal(
        "unreadable",
        `The workbook cannot be read: its part ${name.slice(0, 100)} does not declare its size.`,
      )
    }
  }
  return total <= limits.unpackedBytes
    ? undefined
    : refusal(
        "too_large",
        `The workbook declares an unpacked size of ${megabytes(total)}; at most ${megabytes(limits.unpackedBytes)} are read.`,
      )
}
