/** The small statements around a read. */

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
