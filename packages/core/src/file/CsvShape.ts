/**
 * Detects from the beginning of a separated file how to read it: the delimiter, the line where the table begins, and
 * whether that line is a header.
 */
import { isDividedBySpaces } from "./AlignedTable.ts"
import { constancy } from "./Constancy.ts"
import { csvSample, isValue, type SampledText } from "./CsvSample.ts"
import { type DelimiterChoice, findDelimiter } from "./Delimiter.ts"
import { LineSkip } from "./LineSkip.ts"
import { tableBegin } from "./TableBegin.ts"
import { jsonText } from "../json/JsonText.ts"
import { HeaderedRows } from "./HeaderedRows.ts"

/** The caller's options; the rest is detected. */
export interface GivenCsvShape {
  readonly delimiter?: string | undefined
  readonly header?: boolean | undefined
  /** The line of the header, from 1; everything above it is left out. */
  readonly headerRow?: number | undefined
}

export interface CsvShape {
  /** Empty for a file of one column. */
  readonly delimiter: string
  readonly header: boolean
  /** The line where the table begins, from 1: below Excel's `sep=;`, and below titles. */
  readonly firstLine: number
  /** The number of lines above it that were found to be titles. */
  readonly titles: number
  /** Another delimiter that fits as well, but is less preferred. */
  readonly passedOver: string | null
  /** Whether the lines are one column although spaces divide them evenly. */
  readonly isSpaced: boolean
  /** If several delimiters fit: what the file becomes with each. The caller must decide. */
  readonly readings: ReadonlyArray<CsvReading>
}

/** What a file becomes with one of the delimiters that fit. */
export interface CsvReading {
  readonly delimiter: string
  readonly header: boolean
  /** The first rows as JSON texts. */
  readonly preview: ReadonlyArray<string>
}

const DECLARED = /^(?:sep=([^\r\n])|"sep=([^\r\n])")(?:\r\n|\n|\r)/i

/** Given options override detection. `sample` is the beginning of the text, and `whole` says that it is the complete text. */
export const csvShape = (sample: string, whole: boolean, given: GivenCsvShape): CsvShape => {
  const declared = DECLARED.exec(sample)
  const line = given.headerRow ?? (declared === null ? 1 : 2)
  const sampled: SampledText = { text: new LineSkip(line - 1).pass(sample), whole, line }
  const delimiter = given.delimiter ?? declared?.[1] ?? declared?.[2]
  const choice: DelimiterChoice =
    delimiter === undefined ? findDelimiter(sampled) : { fitting: [delimiter], passedOver: null }
  const { fitting, passedOver } = choice
  const begins = fitting.map((one) => ({ delimiter: one, ...beginOf(sampled, one, given) }))
  const first = begins[0]!
  const readings = begins.length === 1 ? [] : begins.map((one) => csvPreview(sampled, one))
  const isSpaced = delimiter === undefined && first.width < 2 && isDividedBySpaces(sampled.text, !whole)
  const { header, firstLine } = first
  return { delimiter: first.delimiter, header, firstLine, titles: firstLine - line, passedOver, isSpaced, readings }
}

/** A header contains no numbers and no dates, except years; a first line without them counts as a header. */
const beginOf = (sampled: SampledText, delimiter: string, given: GivenCsvShape) => {
  const { rows, refused } = csvSample(sampled, delimiter)
  const { width } = constancy(
    rows.map(({ cells }) => cells.length),
    refused,
  )
  const begin = given.header === false || given.headerRow !== undefined ? 0 : tableBegin(rows, width)
  const header = given.header ?? (given.headerRow !== undefined || !(rows[begin]?.cells ?? []).some(isValue))
  return { header, firstLine: begin === 0 ? sampled.line : rows[begin]!.line, width }
}

const PREVIEW_ROWS = 5

/** Previews what the beginning of a separated file becomes with one way of reading it. */
const csvPreview = (
  sampled: SampledText,
  {
    delimiter,
    header,
    firstLine,
  }: { readonly delimiter: string; readonly header: boolean; readonly firstLine: number },
): CsvReading => {
  const preview: Array<string> = []
  const rows = new HeaderedRows({ item: (_, payload) => preview.push(jsonText(payload)), refuse: () => {} }, header)
  for (const record of csvSample(sampled, delimiter).rows) {
    if (preview.length >= PREVIEW_ROWS) break
    if (record.line >= firstLine) rows.row(record)
  }
  return { delimiter, header, preview }
}
