/** Pages: their size limits and their contents, the same for rows and for the feed. */
import type { Items } from "./Items.ts"

/** The number of items on a page if the client does not specify it. */
export const DEFAULT_LIMIT = 100

/** The largest page that a client may request. */
export const MAX_LIMIT = 1000

/** A page ends early once its items exceed this many bytes: it is then shorter than `limit`, and `hasMore` is true. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** One page of a walk: its items, and where the next one begins. */
export interface Page {
  readonly items: Items
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** The text of `bad_limit` errors. */
export const LIMIT_EXPECTED = `limit must be an integer from 1 to ${MAX_LIMIT}`

/** Parses a page size: a decimal integer from 1 to 1000, otherwise undefined. */
export const parseLimit = (text: string): number | undefined => {
  if (!/^[0-9]{1,9}$/.test(text)) return undefined
  const limit = Number(text)
  return limit >= 1 && limit <= MAX_LIMIT ? limit : undefined
}
