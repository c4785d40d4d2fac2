/**
 * Finds the words in a filter's value that PostgreSQL evaluates by its clock or as a fixed time: `now`, `today`,
 * `tomorrow`, `yesterday`, `epoch`, `allballs`. They are refused as values: the same request would select other rows
 * tomorrow, and by the server's midnight instead of the cabinet's. `infinity` is an ordinary value.
 *
 * Decision: docs/decisions/0030-clock-words-are-no-filter-values.md
 */
import type { ColumnType } from "../row/ColumnType.ts"

/** The first such word, as sent, in a text that is converted to this type. */
export const clockWord = (type: ColumnType, text: string): string | undefined => {
  if (!type.temporal) return undefined
  if (type.kind === "composite") {
    return found(partsOf(text, "("), (part, index) => {
      const field = type.fields[index]
      return field === undefined ? undefined : clockWord(field.type, part)
    })
  }
  // A record in a list can contain texts, in which these words are plain words.
  if (type.kind === "array") return found(partsOf(text, "{"), (part) => clockWord(type.element, part))
  return CLOCK_WORD.exec(text)?.[0]
}

/** PostgreSQL takes a run of letters as a word, in any case, whatever surrounds it. */
const CLOCK_WORD = /(?<![a-z])(?:now|today|tomorrow|yesterday|epoch|allballs)(?![a-z])/i

const found = (
  parts: ReadonlyArray<string>,
  wordOf: (part: string, index: number) => string | undefined,
): string | undefined => {
  for (const [index, part] of parts.entries()) {
    const word = wordOf(part, index)
    if (word !== undefined) return word
  }
  return undefined
}

/**
 * The values in the text of a record, `(1,"a b",)`, or of an array, `{1,"a b",{2}}` or `[2:3]={1,2}`, with all dimensions
 * flattened, without their quotes. A text that is neither is left for PostgreSQL to refuse.
 */
const partsOf = (text: string, open: "(" | "{"): ReadonlyArray<string> => {
  const parts: Array<string> = []
  const ends = open === "(" ? ",)" : ",{}"
  let part = ""
  let quoted = false
  for (let at = text.indexOf(open) + 1; at < text.length; at++) {
    const character = text[at]!
    if (character === "\\") part += text[++at] ?? ""
    else if (character === '"') {
      // A doubled quote is a quote in the value.
      if (quoted && text[at + 1] === '"') part += text[at++]
      else quoted = !quoted
    } else if (!quoted && ends.includes(character)) {
      parts.push(part)
      part = ""
    } else part += character
  }
  return [...parts, part]
}
