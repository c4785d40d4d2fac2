/** The formats of an exported file, and their options. */
import type { ExportedRows } from "./ExportRows.ts"
import { TEXT_FORMATS, type TextOptions } from "./RowText.ts"

/** All formats. */
export const EXPORT_FORMATS = [...TEXT_FORMATS, "xlsx", "parquet"] as const
/** The form of a file: separated by commas or tabs, one JSON row per line, a workbook, or Parquet. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The digits of a decimal number: the total, and those after the point. */
export interface DecimalDigits {
  readonly precision: number
  readonly scale: number
}

/** Options of a format; each applies to some formats. */
export interface ExportShape extends TextOptions {
  /** Parquet: columns of decimals with this many digits. The first value that does not fit ends the export. */
  readonly decimals?: Readonly<Record<string, DecimalDigits>> | undefined
  /** Parquet: columns written as text, whatever their values. */
  readonly texts?: ReadonlyArray<string> | undefined
}

/** Rows to write as a file. */
export interface EncodedRows extends Omit<ExportedRows, "isSnapshot"> {
  /** The file's own metadata, if its format has room for it; called after the last row. */
  readonly metadata?: () => Readonly<Record<string, string>>
}

/** Writes rows as a file. Throws the error that ends the rows early; the output is then incomplete. */
export type RowEncoder = (rows: EncodedRows) => AsyncIterable<Uint8Array>
