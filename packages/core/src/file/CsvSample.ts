/** Parses the beginning of a separated file with one delimiter, to see whether that delimiter fits. */
import { CsvReader, type CsvRecord } from "./CsvReader.ts"

export interface CsvSample {
  readonly rows: ReadonlyArray<CsvRecord>
  /** Lines that cannot be read with this delimiter. */
  readonly refused: number
}

/** The beginning of a text; `whole`: it is the complete text, so its last line is not cut. */
export interface SampledText {
  readonly text: string
  readonly whole: boolean
  /** The number of its first line in the file. */
  readonly line: number
}

export const csvSample = ({ text, whole, line }: SampledText, delimiter: string): CsvSample => {
  const rows: Array<CsvRecord> = []
  let refused = 0
  const reader = new CsvReader(
    delimiter,
    (record) => rows.push(record),
    () => refused++,
    line,
  )
  reader.push(text)
  if (whole) reader.end()
  return { rows, refused }
}

const NUMBER_OR_DATE =
  /^[+-]?[\d\s\u00a0]*[.,]?\d+(?:e[+-]?\d+)?%?$|^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[ T]\d{1,2}:\d\d.*)?$/i
const YEAR = /^(?:19|20)\d\d$/

/** No number or date is longer; on a long run of digits the pattern would backtrack over every way to split it. */
const MAX_VALUE_LENGTH = 64

/** Whether a cell holds a number or a date, which headers do not; years do not count. */
export const isValue = (cell: string): boolean => {
  const text = cell.trim()
  return text.length <= MAX_VALUE_LENGTH && NUMBER_OR_DATE.test(text) && !YEAR.test(text)
}
