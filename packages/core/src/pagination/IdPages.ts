/** Lists in the order of their ids, page by page, of what has no upper bound, such as delivery addresses and keys. */
import { Effect } from "effect"
import { MAX_LIMIT } from "./Page.ts"

/** A page of such a list. */
export interface IdQuery {
  /** Only those with a higher id; 0 for the first page. */
  readonly after: number
  readonly limit: number
}

/** Walks all pages. Those that `pick` does not answer with null are kept: a whole list may be too long for the memory. */
export const eachItem = Effect.fnUntraced(function* <A extends { readonly id: number }, B, E, R>(
  list: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E, R>,
  pick: (item: A) => B | null,
  first = 0,
) {
  const picked: Array<B> = []
  for (let after: number | undefined = first; after !== undefined;) {
    const page: ReadonlyArray<A> = yield* list({ after, limit: MAX_LIMIT })
    for (const item of page) {
      const one = pick(item)
      if (one !== null) picked.push(one)
    }
    after = page.length < MAX_LIMIT ? undefined : page.at(-1)!.id
  }
  return picked
})

/** All items of a list. */
export const allItems = <A extends { readonly id: number }, E, R>(
  list: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E, R>,
  first = 0,
) => eachItem(list, (item) => item, first)
