/**
 * The SQL that checks whether a text is written in a notation, and writes a number or a day of a notation as PostgreSQL
 * reads it; only for a text that is in the notation.
 */
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import { type Notation, numberTranslation, notationPattern } from "@data-cabinet/core/row/Notation"
import { EXACT_FORMAT } from "@data-cabinet/core/text/ExactFormat"
import type { NewType } from "@data-cabinet/core/row/SourceColumnStore"

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

/** The condition under which a column's text converts to another type, and the expression that converts it. */
export const conversion = (column: string, from: ColumnKind, { type: to, notation }: NewType) => {
  const text = from === "jsonb" ? `(${column} #>> '{}')` : `${column}::text`
  if (to === "text") return { fits: "true", value: from === "timestamptz" ? `to_json(${column}) #>> '{}'` : text }
  if (to === "jsonb") return { fits: "true", value: `to_jsonb(${column})` }
  const own = notationPattern(to, notation)
  const spelt = `${from === "jsonb" ? `jsonb_typeof(${column}) <> 'object' AND jsonb_typeof(${column}) <> 'array' AND ` : ""}${matches(text, own ?? EXACT_FORMAT[to])}`
  const plain = own === undefined ? text : plainText(text, to, notation)
  // A day that does not exist is spelled like any other. So it is compared with the last day of its month, which cannot fail.
  const lastDay = `extract(day FROM (left(${plain}, 8) || '01')::date + interval '1 month -1 day')`
  const isDay = `CASE WHEN ${spelt} THEN substr(${plain}, 9, 2)::int <= ${lastDay} ELSE false END`
  const fits = to === "date" || to === "timestamptz" ? isDay : spelt
  return { fits, value: `${plain}::${to}` }
}
