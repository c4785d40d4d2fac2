/** Listed events as JSON: the feed's event as stored, to the last digit, followed by the list's own members. */
import type { EventList } from "./EventBrowser.ts"
import type { ListedEvent } from "./EventListStore.ts"

/** As JSON text. */
export const listedEventText = ({ event, state, empty, rowWaits, trashedBy, deliveries }: ListedEvent): string => {
  const { kind, id, name } = trashedBy ?? {}
  const more = JSON.stringify({
    state,
    empty,
    row_waits: rowWaits,
    trashed_by: trashedBy === null ? null : { kind, id, name },
    deliveries,
  })
  return `${event.slice(0, -1)},${more.slice(1)}`
}

/** A page as JSON text. */
export const eventListText = ({ items, nextCursor, searchedTo }: EventList): string =>
  `{"data":[${items.map(listedEventText).join(",")}],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)},"searched_to":${JSON.stringify(searchedTo)}}`
