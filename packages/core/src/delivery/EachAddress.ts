/** Walks all delivery addresses page by page. */
import { Effect } from "effect"
import { MAX_LIMIT } from "../pagination/Page.ts"
import type { Address } from "./Address.ts"
import { Addresses } from "./Addresses.ts"

/** Those that `pick` does not answer with null are kept: a whole list may be too long for the memory. */
export const eachAddress = Effect.fnUntraced(function* <A>(pick: (address: Address) => A | null, first = 0) {
  const { list } = yield* Addresses
  const picked: Array<A> = []
  for (let after: number | undefined = first; after !== undefined;) {
    const page: ReadonlyArray<Address> = yield* list({ after, limit: MAX_LIMIT })
    for (const address of page) {
      const one = pick(address)
      if (one !== null) picked.push(one)
    }
    after = page.length < MAX_LIMIT ? undefined : page.at(-1)!.id
  }
  return picked
})
