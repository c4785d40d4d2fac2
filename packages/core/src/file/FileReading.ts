/** The parts of an import's report that describe how a file was read. */
import { ONE_COLUMN } from "./Delimiter.ts"
import type { Doubt } from "./Doubt.ts"
import type { FileInspection } from "./FileInspection.ts"
import type { Refusal } from "./FileItem.ts"
import type { NotationReport } from "./FileNotation.ts"

/** What reading a whole file yields. */
export interface FileReading {
  readonly rows: number
  readonly refused: number
  readonly replaced: number
  readonly refusals: ReadonlyArray<Refusal>
  readonly preview: ReadonlyArray<string>
  readonly doubts: ReadonlyArray<Doubt>
  readonly sheet: string | null
  readonly header: boolean | null
  readonly headerRow: number | null
}

/** What the report says about a file before it is read. */
export const inspected = ({ bytes, format, charset, csv }: FileInspection) => ({
  bytes,
  format,
  encoding: charset?.name ?? null,
  delimiter: csv === null ? null : csv.delimiter === ONE_COLUMN ? "none" : csv.delimiter,
  readings: [],
})

/** The result for a file without a notation. */
export const NOTHING_SURVEYED: NotationReport = { readAs: [], misfits: [] }

/** For a file that is only read. */
export const NOTHING_ACCEPTED = { importId: null, accepted: 0, failure: null }

const NOTHING_READ: FileReading = {
  rows: 0,
  refused: 0,
  replaced: 0,
  refusals: [],
  preview: [],
  doubts: [],
  sheet: null,
  header: null,
  headerRow: null,
}

/** For a file that several delimiters fit. */
export const UNCLEAR = {
  ...NOTHING_READ,
  ...NOTHING_SURVEYED,
  ...NOTHING_ACCEPTED,
  delimiter: null,
  state: "unclear" as const,
}
