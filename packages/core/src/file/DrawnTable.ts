/**
 * Recognizes a table drawn with characters, as command lines and Markdown show it. Read as separated text, its rules become
 * rows, and the spaces that align its cells become part of the values.
 */

/** A rule with a crossing for each bar: `----+----`, `|---|---|`, `:--|--:`. */
const isRule = (line: string): boolean => {
  const parts = line.split(/[|+]/).map((part) => part.trim())
  const inner = parts.slice(parts[0] === "" ? 1 : 0, parts.at(-1) === "" ? -1 : undefined)
  return parts.length > 1 && inner.length > 0 && inner.every((part) => /^:?-{2,}:?$/.test(part))
}

const BORDER = /^\+[-=]{2,}[-=+]*\+$|^[┌╔╒╓][─━═┬╤╦╥]+[┐╗╕╖]$/
const FIRST_RECORD = /^-\[ RECORD 1 \]|^\*{10,} 1\. row \*{10,}$/

/** `begin`: the first characters of a text. */
export const isDrawnTable = (begin: string): boolean => {
  const [first = "", second = "", third = ""] = begin.split("\n", 3).map((line) => line.trimEnd())
  if (BORDER.test(first)) return /^[|│║]/.test(second)
  if (FIRST_RECORD.test(first)) return true
  if (first.includes("|")) return isRule(second)
  // psql shows a single column without bars.
  return /^ [^,;\t]+$/.test(first) && /^-{3,}$/.test(second) && third.startsWith(" ")
}

const ALIGNED_LINES = 20

/**
 * Recognizes a table of at least three lines whose columns are separated by spaces alone: wherever the first line has two
 * spaces or more, all lines have a space at the same place, and text behind it. `isCut`: the last line is not complete.
 */
export const isAlignedTable = (begin: string, isCut: boolean): boolean => {
  const all = begin.split("\n").map((line) => line.trimEnd())
  const lines = (isCut ? all.slice(0, -1) : all).filter((line) => line !== "").slice(0, ALIGNED_LINES)
  const [first = ""] = lines
  if (lines.length < 3 || /[,;|\t"]/.test(first)) return false
  const gaps = [...first.matchAll(/(?<=\S)  +(?=\S)/g)]
  const isGap = (at: number) => lines.every((line) => line[at] === " " && line.length > at + 1)
  return (
    gaps.length > 0 && gaps.every(({ index, 0: { length } }) => Array.from({ length }, (_, n) => index + n).some(isGap))
  )
}

const WRAPPED_LINE = /^"[^"]*"$/

/** At least two delimiters in a line; a comma that is followed by a space is text. */
const WRAPPED_DELIMITERS = [/;/g, /\t/g, /\|/g, /,(?! )/g]

/** Whether each line is one quoted cell that holds the same number of delimiters. `isCut`: the last line may be incomplete. */
export const isWrapped = (begin: string, isCut: boolean): boolean => {
  if (!begin.startsWith('"')) return false
  const lines = begin.split(/\r\n|\n|\r/).slice(0, isCut ? -1 : undefined)
  if (lines.length < 2 || !lines.every((line) => WRAPPED_LINE.test(line))) return false
  return WRAPPED_DELIMITERS.some((delimiter) => {
    const counts = new Set(lines.map((line) => line.match(delimiter)?.length ?? 0))
    return counts.size === 1 && !counts.has(0) && !counts.has(1)
  })
}
