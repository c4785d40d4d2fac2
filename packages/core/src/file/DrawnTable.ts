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
