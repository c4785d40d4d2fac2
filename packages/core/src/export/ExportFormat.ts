/** The forms of an exported file, and what can be chosen of them. */
import type { ExportedRows } from "./ExportRows.ts"
import { TEXT_FORMATS, type TextOptions } from "./RowText.ts"

export const EXPORT_FORMATS = [...TEXT_FORMATS, "xlsx", "parquet"] as const
/** The form of a file: separated by commas or tabs, a row a line as JSON, a workbook, or Parquet. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The digits of a decimal number: how many in all, and how many behind the point. */
export interface DecimalDigits {
  readonly precision: number
  readonly scale: number
}

/** What is chosen of a form; each is for some of them. */
export interface ExportShape extends TextOptions {
  /** Parquet: columns of numbers that are decimals of so many digits. The first value that does not fit ends the export. */
  readonly decimals?: Readonly<Record<string, DecimalDigits>> | undefined
  /** Parquet: columns that are text, whatever they hold. */
  readonly texts?: ReadonlyArray<string> | undefined
}

export interface EncodedRows extends Omit<ExportedRows, "isSnapshot"> {
  /** The file's own metadata, if its format has a place for it; called after the last row. */
  readonly metadata?: () => Readonly<Record<string, string>>
}

/** Writes rows as a file. Throws what ends them early: what was written before then is not to be taken for a whole file. */
export type RowEncoder = (rows: EncodedRows) => AsyncIterable<Uint8Array>
