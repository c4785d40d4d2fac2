/** The cause of a driver's error: PostgreSQL's own code and message, if it sent them. */
import type { SqlError } from "effect/sql"

/** The SQLSTATE of a driver's error, if PostgreSQL sent one. */
export const sqlState = (error: SqlError.SqlError): string | undefined => {
  const cause = error.reason.cause
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return undefined
  // A socket's own errors have codes too: `EPIPE` is as long as a SQLSTATE, but every SQLSTATE has a digit.
  return typeof cause.code === "string" && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(cause.code) ? cause.code : undefined
}

/** PostgreSQL's own message, without the statement. */
export const sqlMessage = (error: SqlError.SqlError): string => {
  const cause = error.reason.cause
  return cause instanceof Error ? cause.message : error.message
}
