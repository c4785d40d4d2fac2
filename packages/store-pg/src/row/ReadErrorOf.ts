/**
 * Maps a read's failure in the database to the error that the caller gets.
 *
 * Decision: docs/decisions/0031-errors-are-attributed-by-their-origin.md
 */
import { ReadError, RefusedValue } from "@data-cabinet/core/row/ReadError"
import type { SqlError } from "effect/sql"
import { ResponseTooLong } from "../connection/BoundedResponse.ts"
import { MAX_RESPONSE } from "../connection/ReaderSessions.ts"
import { failureWords, storageWords } from "../connection/FailureWords.ts"
import { isUnavailable, isRaisedWithin, sqlMessage, sqlState, unusable } from "../connection/StoreFailure.ts"
import type { PageQuery } from "@data-cabinet/core/row/RowReader"
import { Effect } from "effect"
import { tryValue } from "./ReadStatement.ts"

export const readerOff = (message: string): ReadError => new ReadError({ code: "reader_off", message, retryAfter: 2 })

export const queryTimeout = (message: string): ReadError =>
  new ReadError({ code: "query_timeout", message, retryAfter: 5 })

export const OVER_TIME = "The query did not finish within its time limit."

/** A function may raise a message of many megabytes, so longer ones are cut. */
const MAX_MESSAGE_LENGTH = 2_000

/** PostgreSQL's own message, shortened if it is too long. */
export const shortMessage = (error: SqlError.SqlError): string => {
  const message = sqlMessage(error)
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…`
}

const OVER_LENGTH = `The query sent more than ${Math.round(MAX_RESPONSE / 1024 / 1024)} MB, with the messages of the functions that it calls, and was ended.`

const offBecause = (error: SqlError.SqlError): ReadError => {
  const words = failureWords(error)
  return readerOff(words === undefined ? "The reader cannot connect to the database now." : unusable(words))
}

export const readErrorOf = (error: SqlError.SqlError): ReadError => {
  if (error.reason.cause instanceof ResponseTooLong) {
    return new ReadError({ code: "query_failed", message: OVER_LENGTH, retryAfter: 0 })
  }
  if (storageWords(error) !== undefined) return offBecause(error)
  if (isRaisedWithin(error)) return new ReadError({ code: "query_failed", message: shortMessage(error), retryAfter: 0 })
  const state = sqlState(error)
  switch (state) {
    case "55P03": // lock_not_available
    case "40P01": // deadlock_detected
      return new ReadError({
        code: "table_busy",
        message: "The table is locked by another session; try again soon.",
        retryAfter: 2,
      })
    case "57014": // query_canceled
      return queryTimeout(OVER_TIME)
    case "25006": // read_only_sql_transaction: the view tried to write
    case "53100": // disk_full, out_of_memory, configuration_limit_exceeded: this query needs too much
    case "53200":
    case "53400":
      return new ReadError({ code: "query_failed", message: shortMessage(error), retryAfter: 0 })
  }
  return isUnavailable(error)
    ? offBecause(error)
    : new ReadError({ code: "query_failed", message: shortMessage(error), retryAfter: 0 })
}

/**
 * Finds out whether a value caused the failure. Values are tested one by one, and only now, so that a successful read pays
 * nothing. A missing privilege is never the fault of the client that sent the value.
 */
export const failed = (
  { table, values }: Pick<PageQuery, "table" | "values">,
  error: SqlError.SqlError,
  tried: (statement: string, text: string) => Effect.Effect<unknown, SqlError.SqlError>,
): Effect.Effect<never, ReadError | RefusedValue> => {
  const verdict = readErrorOf(error)
  if (verdict.code !== "query_failed") return Effect.fail(verdict)
  return Effect.gen(function* () {
    for (const [index, value] of values.entries()) {
      const refusal = yield* Effect.result(tried(tryValue(table, value), value.text))
      if (refusal._tag === "Failure" && isRefused(refusal.failure)) {
        return yield* new RefusedValue({ index, message: shortMessage(refusal.failure) })
      }
    }
    return yield* verdict
  })
}

const INSUFFICIENT_PRIVILEGE = "42501"

const isRefused = (error: SqlError.SqlError): boolean =>
  readErrorOf(error).code === "query_failed" && sqlState(error) !== INSUFFICIENT_PRIVILEGE
