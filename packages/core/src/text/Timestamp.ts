/** Timestamps that people and programs give as text: RFC 3339, such as `2026-11-21T09:30:00Z`, on a day that exists. */
import { matchesExactly } from "./ExactFormat.ts"

/**
 * Whether PostgreSQL reads the text as a timestamp, regardless of its session's settings. Digits beyond microseconds
 * are rounded.
 */
export const isTimestamp = (text: string): boolean =>
  matchesExactly(text.replace(/(\.\d{6})\d{1,3}(?=Z|[+-])/, "$1"), "timestamptz")

/** The message for an invalid timestamp. */
export const notATimestamp = (text: string): string =>
  `${text.slice(0, 100)} is not a time with its zone, such as 2026-11-21T09:30:00Z.`
