/**
 * Recognizes delimiters of several characters, such as `||`, `::`, `~|~`, or a tab and a space. If such a text were
 * split at one of these characters, every value would begin or end with the others.
 */
import { csvSample, type SampledText } from "./CsvSample.ts"
import { constancy } from "./Constancy.ts"

/** The most characters of a delimiter. */
export const MAX_DELIMITER = 4

/** Delimiters of data feeds; any other may also be part of a text. */
const KNOWN = new Set([
  "||",
  "|||",
  "~|~",
  "|~|",
  "^|^",
  "|^|",
  "~^~",
  "|;|",
  "<|>",
  "~~",
  "^^",
  "##",
  "@@",
  "$$",
  "\t ",
])

const RUNS = /(?<![|~^:#@$\u00A6;*%&+=<>])[|~^:#@$\u00A6;*%&+=<>]{2,4}(?![|~^:#@$\u00A6;*%&+=<>])|\t (?! )/gu

/** Commas and semicolons that follow one another are empty cells. */
const EMPTY_CELLS = /^[;=*+]+$/

const NAME = /^\s*[\p{L}_]/u

/** A delimiter of several characters that divides every line alike. */
export interface CompoundDelimiter {
  readonly delimiter: string
  /** Whether it can hardly be part of a text. */
  readonly isCertain: boolean
}

/** The header must consist of different names, none of which contains a character of the delimiter. */
export const compoundDelimiter = (sampled: SampledText): CompoundDelimiter | null => {
  const end = sampled.text.search(/[\r\n]/)
  const runs = new Set((end === -1 ? sampled.text : sampled.text.slice(0, end)).match(RUNS))
  const [delimiter] = runs
  if (delimiter === undefined || runs.size > 1 || EMPTY_CELLS.test(delimiter)) return null
  const { rows, refused } = csvSample(sampled, delimiter)
  const { width, level } = constancy(
    rows.map(({ cells }) => cells.length),
    refused,
  )
  const isCertain = KNOWN.has(delimiter)
  if (level < 3 || rows.length < 2) return null
  const names = rows[0]!.cells.map((name) => name.trim())
  // A delimiter may also end each line.
  if (names.at(-1) === "") names.pop()
  const areNames = names.every(
    (name) =>
      NAME.test(name) &&
      !delimiter
        .trim()
        .split("")
        .some((one) => name.includes(one)),
  )
  if (!areNames || new Set(names).size < names.length || names.length < 2) return null
  return { delimiter, isCertain: isCertain || (delimiter === "::" && width > 2) }
}
