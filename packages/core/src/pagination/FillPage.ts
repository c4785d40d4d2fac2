/**
 * Fills a page of a list that is filtered while it is walked. It reads slices until the page is full, has grown large,
 * or runs out of time.
 */
import { Clock, Effect } from "effect"

/** How long a page may be filled. */
const PAGE_MILLIS = 1_000

/** A part of a list that was examined. */
export interface Slice<A, Place> {
  readonly found: ReadonlyArray<A>
  /** Where the next slice begins; null after the last one. */
  readonly next: Place | null
  /** The time of the last examined item, whether or not it matched; null without one. */
  readonly reached: string | null
}

/** How to fill a page. */
export interface Filling<A, Place, E> {
  readonly limit: number
  /** Where the page begins. */
  readonly after: Place | null
  readonly slice: (after: Place | null, limit: number) => Effect.Effect<Slice<A, Place>, E>
  /** The size of an item, in any unit, and the size at which a page ends. */
  readonly sizeOf?: (item: A) => number
  readonly maxSize?: number
}

/** `searchedTo`: the time of the last item that was examined; null if all were. */
export const fillPage = Effect.fnUntraced(function* <A, Place, E>(filling: Filling<A, Place, E>) {
  const { limit, slice, sizeOf = () => 0, maxSize = Infinity } = filling
  const until = (yield* Clock.currentTimeMillis) + PAGE_MILLIS
  const items: Array<A> = []
  let after = filling.after
  let size = 0
  let searchedTo: string | null = null
  do {
    const { found, next, reached } = yield* slice(after, limit - items.length)
    for (const one of found) {
      items.push(one)
      size += sizeOf(one)
    }
    after = next
    searchedTo = reached ?? searchedTo
  } while (after !== null && items.length < limit && size < maxSize && (yield* Clock.currentTimeMillis) < until)
  return { items, next: after, searchedTo: after === null ? null : searchedTo }
})
