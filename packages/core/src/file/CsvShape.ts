/** Detects from the beginning of a separated file how to read it: the delimiter, and whether the first line is a header. */
import { CsvReader } from "./CsvReader.ts"

export interface CsvShape {
  readonly delimiter: string
  readonly header: boolean
  /** The number of characters before the first line: Excel's `sep=;`, which declares the delimiter. */
  readonly skip: number
}

const CANDIDATES = [",", ";", "\t", "|"]

/** Given options override detection. `sample` is the beginning of the text, and `whole` says that it is the complete text. */
export const csvShape = (
  sample: string,
  whole: boolean,
  given: { readonly delimiter?: string | undefined; readonly header?: boolean | undefined },
): CsvShape => {
  const said = /^sep=([^\r\n])\r?\n/i.exec(sample)
  const skip = said?.[0].length ?? 0
  const text = skip === 0 ? sample : sample.slice(skip)
  const delimiter = given.delimiter ?? said?.[1] ?? guessDelimiter(text, whole)
  return { delimiter, skip, header: given.header ?? guessHeader(records(text, delimiter, whole)) }
}

const records = (text: string, delimiter: string, whole: boolean): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const reader = new CsvReader(
    delimiter,
    ({ cells }) => found.push(cells),
    () => {},
  )
  reader.push(text)
  if (whole) reader.end()
  return found
}

/** The candidate with which most lines have as many cells as the first, preferring more cells; otherwise a comma. */
const guessDelimiter = (text: string, whole: boolean): string => {
  let best = ","
  let bestScore = 0
  for (const candidate of CANDIDATES) {
    const rows = records(text, candidate, whole)
    const width = rows[0]?.length ?? 0
    if (width < 2) continue
    const even = rows.filter((row) => row.length === width).length / rows.length
    const score = even ** 2 * (1 + Math.log(width))
    if (score > bestScore) {
      best = candidate
      bestScore = score
    }
  }
  return best
}

const NUMBER_OR_DATE =
  /^[+-]?[\d\s\u00a0]*[.,]?\d+(?:e[+-]?\d+)?%?$|^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[ T]\d{1,2}:\d\d.*)?$/i
const YEAR = /^(?:19|20)\d\d$/

/** No number or date is longer; on a long run of digits the pattern would backtrack over every way to split it. */
const MAX_VALUE_LENGTH = 64

const isValue = (cell: string): boolean => {
  const text = cell.trim()
  return text.length <= MAX_VALUE_LENGTH && NUMBER_OR_DATE.test(text) && !YEAR.test(text)
}

/** A header contains no numbers and no dates, except years; a first line without them counts as a header. */
const guessHeader = (rows: ReadonlyArray<ReadonlyArray<string>>): boolean => !(rows[0] ?? []).some(isValue)
