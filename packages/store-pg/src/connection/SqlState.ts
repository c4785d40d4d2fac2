/** What is behind a driver's error: PostgreSQL's own code and sentence, where it sent them. */
import type { SqlError } from "effect/sql"

/** The SQLSTATE behind a driver's error, when PostgreSQL sent one. */
export const sqlState = (error: SqlError.SqlError): string | undefined => {
  const cause = error.reason.cause
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return undefined
  // A socket's own errors have codes too: `EPIPE` has the length of a SQLSTATE, but none of those is without a digit.
  return typeof cause.code === "string" && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(cause.code) ? cause.code : undefined
}

/** PostgreSQL's own sentence, without the statement that it was about. */
export const sqlMessage = (error: SqlError.SqlError): string => {
  const cause = error.reason.cause
  return cause instanceof Error ? cause.message : error.message
}
