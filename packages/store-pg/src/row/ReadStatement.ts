/** The small statements around a read. */

import { proofOf } from "./CatalogStatement.ts"

/** The query's one row, and behind it what the object's stamp is in the same moment; the oid is its last parameter. */
export const withProof = (query: string, values: number): string =>
  `SELECT "p".*, ${proofOf(`$${values + 1}::pg_catalog.oid`)} FROM (${query}) AS "p"`

/** Fails if the text cannot be read as the type. */
export const TRY_VALUE = (type: string): string => `SELECT $1::${type} IS NULL`
