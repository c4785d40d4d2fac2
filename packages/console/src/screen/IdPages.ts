/** Lists that are shown page by page, in the order of their ids, such as delivery addresses and keys. */
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { Effect } from "effect"
import { consolePath, type Frame } from "../html/Shell.ts"
import { idOf } from "./Act.ts"
import { withQuery } from "./SelectionLinks.ts"

/** What is shown of such a list. */
export interface IdPage<A> {
  readonly items: ReadonlyArray<A>
  /** The id after which it begins; 0: the first page. */
  readonly after: number
  readonly hasMore: boolean
}

/** How many items a page shows. */
const SHOWN = 100

/** The page of a list that the query string names by the last id of the one before; the first if it names none. */
export const shownPage = <A, E, R>(
  list: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E, R>,
  given: string | undefined,
): Effect.Effect<IdPage<A>, E, R> => {
  const after = idOf(given)
  return Effect.map(list({ after, limit: SHOWN + 1 }), (found) => ({
    items: found.slice(0, SHOWN),
    after,
    hasMore: found.length > SHOWN,
  }))
}

/** Links to the other pages, if there are any. `parameter`: how the query string of the screen names the page. */
export const pageLinks = (
  frame: Frame,
  { items, after, hasMore }: IdPage<{ readonly id: number }>,
  screen: string,
  parameter = "after",
  fragment = "",
): HtmlValue => {
  const { table: words } = frame.words
  const here = consolePath(frame, screen)
  const next = () => withQuery(here, [[parameter, String(items.at(-1)!.id)]])
  return (
    (after > 0 || hasMore) &&
    markup`<div class="foot flat"><span>${after > 0 && markup`<a href="${here}${fragment}">↑ ${words.firstPage}</a>`}</span><span>${hasMore && markup`<a rel="next" href="${next()}${fragment}">${words.nextPage} →</a>`}</span></div>`
  )
}
