/**
 * Finds the delimiter of a separated text: the one that gives every line the same number of cells. Semicolon, tab and bar
 * come before the comma, which also occurs in texts and numbers. Others count where none of these gives every line the
 * same number. If two fit, the caller decides.
 */
import { commaUse } from "./CommaUse.ts"
import { compoundDelimiter } from "./CompoundDelimiter.ts"
import { constancy, type Constancy } from "./Constancy.ts"
import { csvSample, type CsvSample, type SampledText } from "./CsvSample.ts"
import { colonsFit, rareDelimiter } from "./RareDelimiter.ts"
import { tableBegin } from "./TableBegin.ts"

/** The text has one column; commas or semicolons in it separate nothing. */
export const ONE_COLUMN = ""

/** The message for a caller who must choose a delimiter. */
export const DELIMITER_UNCLEAR =
  "Several delimiters fit this file: compare its readings, and pass the delimiter of the right one."

/** The delimiters that fit a text. */
export interface DelimiterChoice {
  /** The preferred reading first. With more than one, the caller must decide. */
  readonly fitting: readonly [string, ...ReadonlyArray<string>]
  /** Another delimiter that fits as well, but is less preferred. */
  readonly passedOver: string | null
}

const BEFORE_COMMA = [";", "\t", "|"]

/** In a text exported from a web page, the semicolon that ends `&amp;` or `&#39;` separates nothing. */
const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});/gi

interface Fit extends Constancy {
  readonly delimiter: string
  readonly sample: CsvSample
}

const fitOf = (sampled: SampledText, delimiter: string): Fit | null => {
  if (!sampled.text.includes(delimiter)) return null
  if (delimiter === ";" && !sampled.text.replaceAll(ENTITY, "").includes(delimiter)) return null
  const sample = csvSample(sampled, delimiter)
  const widths = sample.rows.map(({ cells }) => cells.length)
  return { delimiter, sample, ...constancy(widths, sample.refused) }
}

const one = (delimiter: string, passedOver: string | null = null): DelimiterChoice => ({
  fitting: [delimiter],
  passedOver,
})

/** Candidates at the same level, with the same share of lines. */
const bestOf = (fits: ReadonlyArray<Fit>): ReadonlyArray<Fit> => {
  const [best] = fits.toSorted((a, b) => b.level - a.level || b.share - a.share)
  return fits.filter(({ level, share }) => level === best?.level && (level >= 2 || share === best.share))
}

/** Finds the delimiters that fit the beginning of a text. */
export const findDelimiter = (sampled: SampledText): DelimiterChoice => {
  const compound = compoundDelimiter(sampled)
  if (compound === null) return findCharacter(sampled)
  if (compound.isCertain) return one(compound.delimiter)
  return { fitting: [compound.delimiter, findCharacter(sampled).fitting[0]], passedOver: null }
}

const findCharacter = (sampled: SampledText): DelimiterChoice => {
  const fits = BEFORE_COMMA.map((delimiter) => fitOf(sampled, delimiter)).filter((fit) => fit !== null)
  const others = fits.filter((fit) => fit.level > 0)
  const comma = fitOf(sampled, ",")
  const isConstant = comma?.level === 3 || others.some(({ level }) => level === 3)
  const rare = isConstant ? null : rareDelimiter(sampled)
  if (rare !== null) return one(rare)
  if (others.length === 0 && comma === null && colonsFit(sampled)) {
    return { fitting: [ONE_COLUMN, ":"], passedOver: null }
  }
  if (others.length === 0) return withoutOthers(sampled, comma, fits)
  const best = bestOf(others)
  const [first, second] = best
  if (comma !== null && comma.level > 0) {
    const { widths, dividedLines } = commaUse(sampled.text, sampled.whole)
    const isHeaderDivided = comma.level === 3 && widths[0] === comma.width
    const isDivided = dividedLines * 2 >= widths.length || (isHeaderDivided && comma.width > 2)
    if (isDivided && comma.level > first!.level) return one(",")
    if (isDivided && comma.level === first!.level && comma.level < 3 && comma.share > first!.share) return one(",")
    if (isHeaderDivided && first!.level < 3) return { fitting: [",", first!.delimiter], passedOver: null }
    const separating = constancy(widths)
    if (second === undefined && separating.level === 3 && first!.level === 3) {
      return separating.width > first!.width
        ? { fitting: [first!.delimiter, ","], passedOver: null }
        : one(first!.delimiter, ",")
    }
  }
  if (second === undefined) return one(first!.delimiter)
  return { fitting: [first!.delimiter, ...best.slice(1).map(({ delimiter }) => delimiter)], passedOver: null }
}

/** Among delimiters that fit few lines, the one that divides the first line. */
const divided = (fits: ReadonlyArray<Fit>): Fit | undefined =>
  fits.filter(({ sample }) => (sample.rows[0]?.cells.length ?? 0) > 1).toSorted((a, b) => b.share - a.share)[0]

/** If each line is one number with a decimal comma, it may be one column of decimals or two of whole numbers. */
const DECIMAL = /^\s*[+-]?\d+,(\d{1,3})\s*$/

/** Only commas can separate cells. */
const withoutOthers = (sampled: SampledText, comma: Fit | null, fits: ReadonlyArray<Fit>): DelimiterChoice => {
  const other = divided(fits)
  if (comma === null) return one(other?.delimiter ?? (fits.length === 0 ? "," : ONE_COLUMN))
  const { rows } = comma.sample
  if (other !== undefined && comma.level === 0 && rows[0]?.cells.length === 1) return one(other.delimiter)
  const { dividedLines, inTexts } = commaUse(sampled.text, sampled.whole)
  if (dividedLines > 0 || inTexts === 0) return one(",")
  if (rows.length > 1 && rows[0]!.cells.length === 1) {
    // Unless the first line is a title, every row with a comma would have more cells than its header.
    if (comma.level < 2 || tableBegin(rows, comma.width) === 0) return one(ONE_COLUMN)
  }
  const lines = csvSample(sampled, ONE_COLUMN).rows
  const decimals = new Set(lines.slice(1).map(({ cells }) => DECIMAL.exec(cells[0]!)?.[1]?.length))
  if (decimals.size === 1 && !decimals.has(undefined)) {
    return lines[0]!.cells[0]!.includes(",") ? { fitting: [",", ONE_COLUMN], passedOver: null } : one(ONE_COLUMN)
  }
  return one(",")
}
