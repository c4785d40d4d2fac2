/** A search of events that goes on past its first bounded pages while they are empty: a person waits some seconds for a hit. */
import type { EventList } from "@data-cabinet/core/event/EventBrowser"
import { Clock, Effect } from "effect"

/** Each page of the search takes a second at most; a screen must be there within nine. */
const SEARCH_MILLIS = 4_000

/** The first page with an event, or the one at which the time was up; `nextCursor` goes on from there. */
export const searchOn = Effect.fnUntraced(function* <E>(
  page: (cursor: string | undefined) => Effect.Effect<EventList, E>,
  first: string | undefined,
) {
  const until = (yield* Clock.currentTimeMillis) + SEARCH_MILLIS
  let list = yield* page(first)
  while (list.items.length === 0 && list.nextCursor !== null && (yield* Clock.currentTimeMillis) < until) {
    list = yield* page(list.nextCursor)
  }
  return list
})
