/**
 * Parses a source's id in a path or a query string.
 *
 * Decision: docs/decisions/0015-ids-are-javascript-numbers.md
 */

const BIGINT_MAX = 2n ** 63n - 1n

/**
 * The id; `"malformed"` if the text is not a positive integer that fits a bigint; `"unknown"` for an id above 2^53 - 1, the
 * maximum of our ids: well formed, but certainly of no source.
 */
export const parseSourceId = (text: string): number | "malformed" | "unknown" => {
  if (!/^[0-9]{1,19}$/.test(text)) return "malformed"
  const id = BigInt(text)
  if (id < 1n || id > BIGINT_MAX) return "malformed"
  return id > BigInt(Number.MAX_SAFE_INTEGER) ? "unknown" : Number(id)
}
