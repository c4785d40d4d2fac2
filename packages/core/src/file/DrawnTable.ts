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
