/** The small statements around a read. */

import { call, operate } from "@data-cabinet/core/row/SystemSql"
import { proofOf } from "./CatalogStatement.ts"

/** Not `on` where a function has run that wants the session's next statement to write. */
const READS_ONLY = operate(call("current_setting", "'default_transaction_read_only'"), "=", "'on'")

/** The query's one row, and behind it what the object's stamp is in the same moment; the oid is its last parameter. */
export const withExpectedVersion = (query: string, values: number): string =>
  `SELECT "p".*, ${proofOf(oidAfter(values))} FROM (${query}) AS "p"`

/** The same for a shared session; NULL for the stamp where the session does not only read any more. */
export const withSharedProof = (query: string, values: number): string =>
  `SELECT "p".*, CASE WHEN ${READS_ONLY} THEN ${proofOf(oidAfter(values))} END FROM (${query}) AS "p"`

const oidAfter = (values: number): string => `$${values + 1}::pg_catalog.oid`

/** Fails if the text cannot be read as the type. */
export const TRY_VALUE = (type: string): string => `SELECT $1::${type} IS NULL`
