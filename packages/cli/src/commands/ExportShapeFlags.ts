/** The format of an exported file, by its flags or its name, and what its flags say of the values. */
import {
  type DecimalDigits,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportShape,
} from "@data-cabinet/core/export/ExportFormat"
import { refusedDelimiter } from "@data-cabinet/core/export/RowText"
import { decimalDigits } from "@data-cabinet/http-node/export/ParquetField"
import { Option } from "effect"
import { CommandError } from "../error/CommandError.ts"

/** The flags of the call do not fit together. */
export const usage = (message: string) => new CommandError({ code: "usage", message })

/** The format that a file's name implies. */
const EXTENSIONS: Readonly<Record<string, ExportFormat>> = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  ndjson: "ndjson",
  jsonl: "ndjson",
  xlsx: "xlsx",
  parquet: "parquet",
}

/** The file name that means standard output. */
export const STDOUT = "-"

/** The given format, or the one that the name of the file implies. */
export const formatOf = (to: string, given: ExportFormat | undefined): ExportFormat | CommandError => {
  if (given !== undefined) return given
  if (to === STDOUT) return "csv"
  const extension = /\.([^./\\]+)$/.exec(to)?.[1]?.toLowerCase()
  return (
    EXTENSIONS[extension ?? ""] ??
    usage(`The name ${to} does not determine a format: pass --format, one of ${EXPORT_FORMATS.join(", ")}.`)
  )
}

/** The flags about the values of a file. */
export interface ShapeFlags {
  readonly delimiter: Option.Option<string>
  readonly bom: boolean
  readonly safeForSpreadsheets: boolean
  readonly decimal: ReadonlyArray<string>
  readonly text: ReadonlyArray<string>
}

/** `total=12,2`: a column, its number of digits, and how many of them follow the point. */
const decimalsOf = (flags: ReadonlyArray<string>): Readonly<Record<string, DecimalDigits>> | CommandError => {
  const found: Array<readonly [string, DecimalDigits]> = []
  for (const flag of flags) {
    const [, column, precision, scale] = /^(.+)=(\d{1,3}),(\d{1,3})$/s.exec(flag) ?? []
    const digits = column === undefined ? null : decimalDigits(Number(precision), Number(scale))
    if (column === undefined || digits === null) {
      return usage(
        `--decimal takes a column and its digits, such as total=12,2, at most 38, not ${JSON.stringify(flag)}.`,
      )
    }
    found.push([column, digits])
  }
  return Object.fromEntries(found)
}

/** What the flags say of the values; an error if the format has no such flag. */
export const shapeOf = (chosen: ExportFormat, flags: ShapeFlags): ExportShape | CommandError => {
  const { bom, safeForSpreadsheets, text: texts } = flags
  const named = Option.getOrUndefined(flags.delimiter)
  const delimiter = named === "tab" ? "\t" : named
  const refused = delimiter === undefined ? null : refusedDelimiter(delimiter)
  if (refused !== null) return usage(`--delimiter: ${refused}`)
  const isSeparated = chosen === "csv" || chosen === "tsv"
  if (!isSeparated && (delimiter !== undefined || bom || safeForSpreadsheets)) {
    return usage("--delimiter, --bom and --safe-for-spreadsheets are for CSV and TSV.")
  }
  if (chosen !== "parquet" && flags.decimal.length + texts.length > 0) {
    return usage("--decimal and --text are for Parquet.")
  }
  const decimals = decimalsOf(flags.decimal)
  return decimals instanceof CommandError ? decimals : { delimiter, bom, safeForSpreadsheets, decimals, texts }
}
