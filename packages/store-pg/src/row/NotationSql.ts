/**
 * The SQL that checks whether a text is written in a notation, and writes a number or a day of a notation as PostgreSQL
 * reads it; only for a text that is in the notation.
 */
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import { type Notation, numberTranslation } from "@data-cabinet/core/row/Notation"

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A text of at most this many characters cannot exceed what a pattern counts. */
const COUNTED_CHARACTERS = 255

/**
 * Whether a text matches an anchored pattern. One that counts up to hundreds costs PostgreSQL five times as much as one that
 * does not count, so only long texts are counted.
 */
export const matches = (text: string, pattern: string): string => {
  const uncounted = pattern.replaceAll(/\{0,\d\d+\}/g, "*").replaceAll(/\{1,\d\d+\}/g, "+")
  return uncounted === pattern
    ? `${text} ~ '${pattern}'`
    : `${text} ~ '${uncounted}' AND (length(${text}) <= ${COUNTED_CHARACTERS} OR ${text} ~ '${pattern}')`
}

/** `text`: an expression of type text. */
export const plainText = (text: string, kind: ColumnKind, { numbers, dates }: Notation): string => {
  if (kind === "numeric" && numbers !== undefined) {
    const { from, to } = numberTranslation(numbers)
    return `translate(${text}, ${quoted(from)}, ${quoted(to)})`
  }
  if (dates === undefined) return text
  const written = kind === "timestamptz" ? `split_part(translate(${text}, 'T', ' '), ' ', 1)` : text
  const part = (number: number) => `lpad(split_part(translate(${written}, './', '--'), '-', ${number}), 2, '0')`
  const inOrder = ([year, month, day]: readonly [number, number, number]) =>
    `split_part(translate(${written}, './', '--'), '-', ${year}) || '-' || ${part(month)} || '-' || ${part(day)}`
  const ownOrder = inOrder({ dmy: [3, 2, 1], mdy: [3, 1, 2], ymd: [1, 2, 3] }[dates] as [number, number, number])
  // A day that begins with its year is read in any notation.
  const plain =
    dates === "ymd" ? ownOrder : `CASE WHEN ${text} ~ '^[0-9]{4}' THEN ${inOrder([1, 2, 3])} ELSE ${ownOrder} END`
  return kind === "timestamptz" ? `((${plain}) || substr(${text}, length(${written}) + 1))` : `(${plain})`
}
