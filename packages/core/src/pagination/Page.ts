/** Pages: how long one may be, and what one is made of. The same for rows and for the feed. */
import type { Items } from "./Items.ts"

/** How many items a page has when the client does not say. */
export const DEFAULT_LIMIT = 100

/** The longest page that a client may ask for. */
export const MAX_LIMIT = 1000

/** Items past this many bytes end a page early: it is then shorter than `limit`, and `hasMore` is true. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** One page of a walk: its items, and where the next one begins. */
export interface Page {
  readonly items: Items
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** What `bad_limit` answers say. */
export const LIMIT_EXPECTED = `limit is a whole number from 1 to ${MAX_LIMIT}`

/** A page size as a client wrote it: a decimal integer from 1 to 1000, else undefined. */
export const parseLimit = (text: string): number | undefined => {
  if (!/^[0-9]{1,9}$/.test(text)) return undefined
  const limit = Number(text)
  return limit >= 1 && limit <= MAX_LIMIT ? limit : undefined
}
