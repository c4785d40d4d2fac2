/**
 * The link that reloads a list. The script counts new events in it, and never moves the text being read; without the
 * script it is a plain link.
 */
import type { FollowFilter } from "@data-cabinet/core/feed/FeedListener"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { consolePath, type Frame } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "../screen/SelectionLinks.ts"

export interface Live {
  readonly filter: FollowFilter
  /** The feed's end as the list was made, or just before. */
  readonly cursor: string
}

interface LiveLink {
  readonly live: Live
  /** Where new events are shown. */
  readonly href: string
  /**
   * What is counted. `some`: the link only says that there are new events, because how many of them belong to the list
   * is unknown.
   */
  readonly counts: "events" | "rows" | "some"
  /**
   * The element in which the first event appears by itself while it contains a placeholder (`data-waiting`), and its
   * address.
   */
  readonly first?: { readonly into: string; readonly from: string }
}

export const livePairs = ({ filter: { sourceId, channel }, cursor }: Live): Pairs => [
  ...(sourceId === null ? [] : [["source_id", String(sourceId)] as const]),
  ...(channel === null ? [] : [["channel", channel] as const]),
  ["cursor", cursor],
]

export const liveLink = (frame: Frame, { live, href, counts, first }: LiveLink): Html => {
  const { live: words } = frame.words
  const appears = first !== undefined && markup` data-first="${first.into}" data-from="${first.from}"`
  return markup`<a class="button live" href="${href}" data-live="${withQuery(consolePath(frame, "live"), livePairs(live))}" data-counts="${counts}" data-idle="${words.idle}" data-reload="${words.reload}" data-new="${words.new("#")}" data-more="${words.more("#")}" data-some="${words.some}"${appears}>${words.reload}</a>`
}

/** The link of a list that only says that there is news. `from`: its stream; `some`: the words. */
export const newsOf = (
  { words: { live: words } }: Frame,
  { from, href, some }: { readonly from: string; readonly href: string; readonly some: string },
): Html =>
  markup`<a class="button live" href="${href}" data-live="${from}" data-counts="some" data-idle="${words.idle}" data-reload="${words.reload}" data-some="${some}">${words.reload}</a>`
