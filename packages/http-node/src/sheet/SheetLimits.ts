/** The machine resources that workbooks may use: each one, and all together. */

export interface SheetLimits {
  readonly archiveBytes: number
  /** The unpacked size of all parts that are read. */
  readonly unpackedBytes: number
  /** The bytes to which any archive may unpack, and the additional ones for each of its own bytes. */
  readonly freeUnpackedBytes: number
  readonly unpackedRatio: number
  /** The size of one part in memory: every part except the rows of a sheet, which are streamed. */
  readonly partBytes: number
  readonly heapMegabytes: number
  /** The longest wait for the first row, and between two batches. */
  readonly idleMillis: number
  /** Workbooks that a process reads at once, and at most one per cabinet; others wait. */
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

/** The bytes to which such an archive may unpack: reading takes time in proportion to them. */
export const unpackedLimit = (archiveBytes: number, limits: SheetLimits): number =>
  Math.min(limits.unpackedBytes, limits.freeUnpackedBytes + limits.unpackedRatio * archiveBytes)
