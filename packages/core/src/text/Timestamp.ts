/** Moments that people and programs give as text: RFC 3339, as `2026-11-21T09:30:00Z`, of a day that the calendar has. */
import { matchesExactly } from "../row/ExactFormat.ts"

/**
 * Whether PostgreSQL reads the text as a moment, regardless of its session's settings. More than microseconds are
 * rounded.
 */
export const isTimestamp = (text: string): boolean =>
  matchesExactly(text.replace(/(\.\d{6})\d{1,3}(?=Z|[+-])/, "$1"), "timestamptz")

/** The message for an invalid timestamp. */
export const notATimestamp = (text: string): string =>
  `${text.slice(0, 100)} is not a time such as 2026-11-21T09:30:00Z.`
