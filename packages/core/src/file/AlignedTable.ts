/**
 * Recognizes tables whose columns are separated by spaces alone, as command lines show them. Read as separated text, each
 * line would be one cell.
 */
import { isValue } from "./CsvSample.ts"

const ALIGNED_LINES = 20

/** Columns that lines without a header need, because names of two words may have their space at the same place. */
const LEAST_COLUMNS = 4

type Lines = ReadonlyArray<string>

const gapsOf = (line: string) => [...line.matchAll(/(?<=\S)  +(?=\S)/g)]

/** Whether all lines have a space at this place, and text after it. */
const isGap = (lines: Lines, at: number): boolean => lines.every((line) => line[at] === " " && line.length > at + 1)

/** Whether every gap of this line is one of all lines. */
const hasGapsOf = (lines: Lines, line: string): boolean =>
  gapsOf(line).every(({ index, 0: { length } }) =>
    Array.from({ length }, (_, n) => index + n).some((at) => isGap(lines, at)),
  )

/** Wherever the first line has two spaces or more, all lines have a gap. */
const isBelowHeader = (lines: Lines): boolean => {
  const [first = ""] = lines
  const gaps = gapsOf(first).length
  return lines.length >= (gaps > 1 ? 2 : 3) && gaps > 0 && hasGapsOf(lines, first)
}

const columnsOf = (lines: Lines): number => {
  const [first = ""] = lines
  let columns = 1
  for (let at = 1; at < first.length; at++) if (isGap(lines, at) && !isGap(lines, at - 1)) columns++
  return columns
}

/** Lines with several columns, at least one of which is aligned by more than one space. */
const isWithoutHeader = (lines: Lines): boolean => {
  const widest = lines.toSorted((a, b) => gapsOf(b).length - gapsOf(a).length)[0] ?? ""
  if (lines.length < 2 || gapsOf(widest).length === 0) return false
  return columnsOf(lines) >= LEAST_COLUMNS && hasGapsOf(lines, widest)
}

const linesOf = (text: string, isCut: boolean): Lines => {
  const lines = text.split("\n").map((line) => line.trimEnd())
  return (isCut ? lines.slice(0, -1) : lines).filter((line) => line !== "").slice(0, ALIGNED_LINES)
}

/** `begin`: the first characters of a text; `isCut`: its last line is not complete. A line above the table may be a title. */
export const isAlignedTable = (begin: string, isCut: boolean): boolean => {
  const lines = linesOf(begin, isCut)
  if (/[,;|\t"]/.test(lines[0] ?? "")) return false
  return isBelowHeader(lines) || isWithoutHeader(lines) || isWithoutHeader(lines.slice(1))
}

/**
 * Whether spaces divide all lines into the same number of words, and some of these are numbers or dates: cells may be
 * separated by spaces. A line that is a number or a date as a whole is one cell.
 */
export const isDividedBySpaces = (text: string, isCut: boolean): boolean => {
  const lines = linesOf(text, isCut).map((line) => line.trim().split(/ +/))
  const [first = [], ...below] = lines
  if (first.length < 2 || below.length === 0 || below.some((words) => words.length !== first.length)) return false
  if (below.some((words) => isValue(words.join(" ")))) return false
  return first.some((_, n) => below.every((words) => isValue(words[n]!)))
}
