/** The small statements around a read. */

import { proofOf } from "./CatalogStatement.ts"

/** The query's one row, and behind it what the object's stamp is in the same moment; the oid is its last parameter. */
export const withProof = (query: string, values: number): string =>
  `SELECT "p".*, ${proofOf(`$${values + 1}::pg_catalog.oid`)} FROM (${query}) AS "p"`

/** Fails if the text cannot be read as the type. */
export const TRY_VALUE = (type: string): string => `SELECT $1::${type} IS NULL`

/**
 * Puts back what a customer's function may have left in the session. DISCARD ALL would do it in one, but would also
 * drop the prepared statements that make reads fast. The first goes alone, for it lifts any time limit set on the rest.
 */
export const RESET_SESSION: ReadonlyArray<string> = [
  "RESET ALL",
  `DO $$ BEGIN
    PERFORM pg_advisory_unlock_all();
    EXECUTE 'CLOSE ALL';
    EXECUTE 'UNLISTEN *';
    EXECUTE 'DISCARD SEQUENCES';
    EXECUTE 'DISCARD TEMP';
  END $$`,
]
