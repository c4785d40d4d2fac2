/**
 * Sessions show their transaction id in 32 bits, but positions in the feed need all 64: a cluster that has used more than
 * four billion ids starts again at small ones.
 */

/**
 * The full id, as SQL: of the ids with these low bits, the one nearest to `near`, a full id of the same moment. Ids in
 * use at the same time are never more than 2^31 apart, or PostgreSQL could not compare them itself. Both are int8.
 */
export const widenedXid = (low: string, near: string): string =>
  `${near} + ((${low} - ${near} % 4294967296 + 6442450944) % 4294967296 - 2147483648)`
