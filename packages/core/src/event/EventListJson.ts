/** Listed events as JSON: the feed's event as stored, to the last digit, followed by the list's own members. */
import type { EventList } from "./EventBrowser.ts"
import { type ListedEvent, listedShape } from "./EventListStore.ts"

/** As JSON text. */
export const listedEventText = (listed: ListedEvent): string =>
  `${listed.event.slice(0, -1)},${JSON.stringify(listedShape.json(listed)).slice(1)}`

/** A page as JSON text. */
export const eventListText = ({ items, nextCursor, searchedTo }: EventList): string =>
  `{"data":[${items.map(listedEventText).join(",")}],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)},"searched_to":${JSON.stringify(searchedTo)}}`
