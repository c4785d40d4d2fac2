/** A source's id as a client writes it, in a path or a query. */

const BIGINT_MAX = 2n ** 63n - 1n

/**
 * The id; `"malformed"` for what is no positive integer that fits a bigint; `"unknown"` for one past 2^53 - 1, where our
 * ids end: well formed, and certainly of no source.
 */
export const parseSourceId = (text: string): number | "malformed" | "unknown" => {
  if (!/^[0-9]{1,19}$/.test(text)) return "malformed"
  const id = BigInt(text)
  if (id < 1n || id > BIGINT_MAX) return "malformed"
  return id > BigInt(Number.MAX_SAFE_INTEGER) ? "unknown" : Number(id)
}
