/**
 * Results that fit an agent's context. A page is cut where its items would be too long together, and read again for its
 * cursor. An item that is too long by itself is left out, with a cursor after it, so that the reader gets past it.
 */
import { Effect } from "effect"
import type { Page } from "../pagination/Page.ts"

/** The most bytes of items in one result: about twenty thousand tokens. */
export const MAX_RESULT_BYTES = 65_536

/** The items of a page that fit into one result. */
export interface BoundedPage {
  /** Each as JSON text. */
  readonly texts: ReadonlyArray<string>
  readonly hasMore: boolean
  readonly nextCursor: string | null
  /** The size in bytes of the one item that is left out. */
  readonly omittedBytes?: number
}

/** How many of the first items fit. */
export const howManyFit = (texts: ReadonlyArray<string>): number => {
  let bytes = 0
  for (const [index, item] of texts.entries()) {
    bytes += Buffer.byteLength(item) + 1
    if (bytes > MAX_RESULT_BYTES) return index
  }
  return texts.length
}

/** `read` reads at most the given number of items, always from the same place; null means the usual number. */
export const boundedPage = <E, R>(
  read: (limit: number | null) => Effect.Effect<Page, E, R>,
): Effect.Effect<BoundedPage, E, R> =>
  Effect.gen(function* () {
    let limit: number | null = null
    for (;;) {
      const { items, hasMore, nextCursor } = yield* read(limit)
      const texts = items.texts()
      const fitting = howManyFit(texts)
      if (fitting === texts.length) return { texts, hasMore, nextCursor }
      if (fitting === 0 && limit === 1) {
        return { texts: [], hasMore, nextCursor, omittedBytes: Buffer.byteLength(texts[0]!) }
      }
      limit = Math.max(1, fitting)
    }
  })

/** The items with the cursor to continue from, as JSON text. */
export const pageText = ({ texts, hasMore, nextCursor, omittedBytes }: BoundedPage): string => {
  const rest = `"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)}`
  if (omittedBytes === undefined) return `{"data":[${texts.join(",")}],${rest}}`
  const behind = nextCursor === null ? "Nothing comes after it." : "next_cursor continues after it."
  const words = `One item of ${omittedBytes} bytes is too long to be shown here. ${behind} Of a row, fewer columns can be read with col.`
  return `{"data":[],"omitted":${JSON.stringify(words)},${rest}}`
}
