/**
 * The link that loads a list again. The script counts new events in it, and never moves what is being read; without the
 * script it is a plain link.
 */
import type { FollowFilter } from "@data-cabinet/core/feed/FeedFollower"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { consolePath, type Frame } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "../table/SelectionLinks.ts"

export interface Live {
  readonly filter: FollowFilter
  /** The feed's end as the list was made, or just before. */
  readonly cursor: string
}

interface LiveLink {
  readonly live: Live
  /** Where what is new is shown. */
  readonly href: string
  /** What is counted; `some`: that something came is said, for how much of it is in the list is not known. */
  readonly counts: "events" | "rows" | "some"
  /** The element that the first event appears in by itself while it has one that waits (`data-waiting`), and from where. */
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
