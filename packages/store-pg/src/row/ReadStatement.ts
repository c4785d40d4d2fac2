/** The small statements around a read. */

import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { QueryValue } from "@data-cabinet/core/row/RowReader"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import { call, operate } from "@data-cabinet/core/row/SystemSql"
import { OBJECT } from "@data-cabinet/core/selection/ConditionSql"
import { valueLike } from "@data-cabinet/core/selection/SqlParameters"
import { readVersionOf } from "./CatalogStatement.ts"

/** False once a function has tried to let the session's next statement write. */
const READS_ONLY = operate(call("current_setting", "'default_transaction_read_only'"), "=", "'on'")

/**
 * Returns the object's catalog version. It runs in a shared session after a page, in the same transaction. NULL if the
 * session is no longer read-only. $1: the oid.
 */
export const PROOF = `SELECT CASE WHEN ${READS_ONLY} THEN ${readVersionOf("$1::pg_catalog.oid")} END`

/** Returns the query's single row, and the object's catalog version at the same moment. The oid is the last parameter. */
export const withExpectedVersion = (query: string, values: number): string =>
  `SELECT "p".*, ${readVersionOf(oidAfter(values))} FROM (${query}) AS "p"`

const oidAfter = (values: number): string => `$${values + 1}::pg_catalog.oid`

/** Fails if its only parameter cannot be parsed as the value's type; it is parsed before any row is read. */
export const tryValue = ({ detail }: ReadableTable, { type, like }: QueryValue): string =>
  like === null
    ? `SELECT $1::${type} IS NULL`
    : `SELECT (${valueLike("$1", like)}) IS NULL FROM ${quoteQualified(detail.schema, detail.name)} AS ${OBJECT} WHERE false`
