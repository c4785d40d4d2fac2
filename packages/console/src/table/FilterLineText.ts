/** How a filter line is written: its bare words, and the line of given filters. */
import { SIGNS } from "@data-cabinet/core/selection/Selection"
import type { ShownFilter } from "../screen/SelectionLinks.ts"

const SIGN_OF: Readonly<Record<string, string>> = SIGNS

/** Bare words, which need no quotes. */
export const COLUMN = /[^\s,()"'“”„«»=!<>~≠≥≤]+/uy
export const VALUE = /[^\s,()"'“”„«»=!<>~≠≥≤][^\s,()]*/uy

/** The words that join conditions. */
export const AND = /(?:and|и)(?![^\s,()])/iuy
export const OR = /(?:or|или)(?![^\s,()])/iuy

export const SPACE = /\s+/uy

const JOIN = /^(?:and|or|и|или)$/iu

/** The words of a line in one language; those of every language are read. */
export interface LineWords {
  readonly or: string
  readonly empty: string
  readonly notempty: string
}

/** A column as a line names it. */
export const columnText = (name: string): string => bare(COLUMN, name)

const bare = (pattern: RegExp, text: string): string => {
  pattern.lastIndex = 0
  return pattern.exec(text)?.[0] === text && !JOIN.test(text) ? text : JSON.stringify(text)
}

/** The line that is read as these filters. A condition that does not exist is written as it is. */
export const lineOf = (filters: ReadonlyArray<ShownFilter>, words: LineWords): string =>
  filters
    .map(({ column, condition, value, or }, at) => {
      const join = at === 0 ? "" : or === true ? ` ${words.or} ` : ", "
      const name = columnText(column)
      if (condition === "empty" || condition === "notempty") return `${join}${name} ${words[condition]}`
      return `${join}${name} ${SIGN_OF[condition] ?? condition} ${bare(VALUE, value)}`
    })
    .join("")
