/** Why a column keeps its type: its table is locked, or a view does not work with the new type. */
import { NotRetyped } from "@data-cabinet/core/row/SourceColumnStore"
import type { SqlError } from "effect/sql"
import { isUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"

/** How long to wait for the table's lock, and for the locks of all views together, in milliseconds. */
export const LOCK_TIMEOUT_MILLIS = 3_000

export const isSlow = (error: SqlError.SqlError): boolean => sqlState(error) === "57014"

export const isLockTimeout = (error: SqlError.SqlError): boolean => sqlState(error) === "55P03"

export const busy = () => new NotRetyped({ fact: { is: "busy", seconds: LOCK_TIMEOUT_MILLIS / 1000 } })

/** The failure of a view that does not work with the new type; the transaction is rolled back. */
export const viewFailed = (error: SqlError.SqlError) =>
  isUnavailable(error) || isLockTimeout(error)
    ? error
    : new NotRetyped({ fact: { is: "view_failed", detail: sqlMessage(error) } })
