/** How much of a machine workbooks may use: each of them, and all at once. */

export interface SheetLimits {
  readonly archiveBytes: number
  /** Of the parts that are read, in total. */
  readonly unpackedBytes: number
  /** So many bytes any archive may unpack to, and so many more for each of its own. */
  readonly freeUnpackedBytes: number
  readonly unpackedRatio: number
  /** Of one part that is kept in memory: every part except the rows of a sheet, which are streamed. */
  readonly partBytes: number
  readonly heapMegabytes: number
  /** Until the first row, and between two batches. */
  readonly idleMillis: number
  /** Workbooks that a process reads at once; others wait. Of one cabinet it reads one. */
  readonly atOnce: number
  /** How long a workbook waits for a slot. */
  readonly waitMillis: number
}

export const SHEET_LIMITS: SheetLimits = {
  archiveBytes: 128 * 1024 ** 2,
  unpackedBytes: 2 * 1024 ** 3,
  freeUnpackedBytes: 128 * 1024 ** 2,
  unpackedRatio: 100,
  partBytes: 128 * 1024 ** 2,
  heapMegabytes: 1024,
  idleMillis: 60_000,
  atOnce: 2,
  waitMillis: 60_000,
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`

/** Bytes that such an archive may unpack to: the time that reading takes grows with them. */
export const unpackedLimit = (archiveBytes: number, limits: SheetLimits): number =>
  Math.min(limits.unpackedBytes, limits.freeUnpackedBytes + limits.unpackedRatio * archiveBytes)
