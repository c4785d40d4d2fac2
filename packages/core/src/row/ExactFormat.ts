/**
 * Which texts spell a value of a kind exactly. Asked only for columns whose kind an operator chose: a form sends every
 * field as text. The same patterns, as PostgreSQL reads them, decide what an existing column's values become.
 */
import { isCalendarDay } from "./CalendarDay.ts"
import type { ColumnKind } from "./FieldColumn.ts"

/** Anchored patterns that JavaScript and PostgreSQL read alike. */
export const EXACT_FORMAT: Readonly<Record<Exclude<ColumnKind, "text" | "jsonb">, string>> = {
  numeric: "^-?(0|[1-9][0-9]{0,254})([.][0-9]{1,255})?$",
  boolean: "^(true|false)$",
  date: "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
  timestamptz:
    "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
}

const patterns = new Map(Object.entries(EXACT_FORMAT).map(([kind, pattern]) => [kind, new RegExp(pattern)]))

/** True when the text spells a value of the kind exactly as it would be written; `007` is no number. */
export const matchesExactly = (text: string, kind: ColumnKind): boolean => {
  if (kind === "text") return true
  const pattern = patterns.get(kind)
  if (pattern === undefined || !pattern.test(text)) return false
  return kind === "date" || kind === "timestamptz" ? isCalendarDay(text.slice(0, 10)) : true
}
