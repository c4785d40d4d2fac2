/**
 * Decides which texts represent a value of a kind exactly. Used only for columns whose kind an operator chose, because
 * a form sends every field as text. PostgreSQL evaluates the same patterns to convert the values of an existing column.
 */

const DAY = /^(?!0000)\d{4}-\d{2}-\d{2}$/

/** True for an existing day from 0001-01-01 to 9999-12-31; false for `2026-02-30`. */
export const isCalendarDay = (text: string): boolean => {
  if (!DAY.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** A kind of value that a text can represent. */
type WrittenKind = "numeric" | "boolean" | "date" | "timestamptz"

/** Anchored patterns with the same meaning in JavaScript and PostgreSQL. */
export const EXACT_FORMAT: Readonly<Record<WrittenKind, string>> = {
  numeric: "^-?(0|[1-9][0-9]{0,254})([.][0-9]{1,255})?$",
  boolean: "^(true|false)$",
  date: "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
  timestamptz:
    "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])$",
}

const patterns = new Map(Object.entries(EXACT_FORMAT).map(([kind, pattern]) => [kind, new RegExp(pattern)]))

/** True if the text is exactly how a value of the kind is written; `007` is not a number. */
export const matchesExactly = (text: string, kind: WrittenKind | "text" | "jsonb"): boolean => {
  if (kind === "text") return true
  const pattern = patterns.get(kind)
  if (pattern === undefined || !pattern.test(text)) return false
  return kind === "date" || kind === "timestamptz" ? isCalendarDay(text.slice(0, 10)) : true
}
