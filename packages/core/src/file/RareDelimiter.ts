/**
 * Recognizes delimiters that are rare in exports: caret, tilde, broken bar and the control characters of data feeds. They
 * count only if every line has the same number of cells and the first line reads as a header. A colon also occurs in times
 * and addresses, so the caller decides.
 */
import { constancy } from "./Constancy.ts"
import { csvSample, type SampledText } from "./CsvSample.ts"

const RARE = ["^", "~", "\u00A6", "\u001F", "\u0001"]

const NAME = /^\s*[\p{L}_][^:]*$/u

/** Whether this delimiter divides each of at least two lines alike, below a line of different names. */
const fitsBelowNames = (sampled: SampledText, delimiter: string, leastWidth: number): boolean => {
  if (!sampled.text.includes(delimiter)) return false
  const { rows, refused } = csvSample(sampled, delimiter)
  const { width, level } = constancy(
    rows.map(({ cells }) => cells.length),
    refused,
  )
  if (level < 3 || width < leastWidth || rows.length < 2) return false
  const names = rows[0]!.cells
  return names.every((name) => NAME.test(name)) && new Set(names.map((name) => name.trim())).size === names.length
}

/** The rare delimiter that divides a text, if exactly one does. */
export const rareDelimiter = (sampled: SampledText): string | null => {
  const [first, second] = RARE.filter((delimiter) => fitsBelowNames(sampled, delimiter, 2))
  return first !== undefined && second === undefined ? first : null
}

/** Whether colons may separate the cells of a text. A line `name: value` has only one. */
export const colonsFit = (sampled: SampledText): boolean => fitsBelowNames(sampled, ":", 3)
