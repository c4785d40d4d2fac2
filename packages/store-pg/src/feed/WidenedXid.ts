/**
 * Sessions show their transaction id in 32 bits, places in the feed need all 64: a cluster that has used more than four
 * thousand million ids begins again at small ones.
 */

/**
 * The full id, as SQL: the one with these low bits that lies nearest to `near`, a full id of the same moment. Ids in use
 * at one moment are never further apart than 2^31, for PostgreSQL could not compare them itself. Both are int8.
 */
export const widenedXid = (low: string, near: string): string =>
  `${near} + ((${low} - ${near} % 4294967296 + 6442450944) % 4294967296 - 2147483648)`
