/** The feed of a cabinet as an async iterable. */
import type { Channel } from "@data-cabinet/core/event/EventLog"
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { FollowFeed, USUAL_WAIT_MILLIS } from "@data-cabinet/core/feed/FollowFeed"
import { Latch } from "effect"
import type { Run } from "./RunEffect.ts"

export type { Channel }

/** An event in the API's form, with the API's own names. Times are RFC 3339 in UTC. */
export interface StoredEvent {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  /** `webhook`: sent to the intake address, or by this program; `file`: imported; `pull`: polled. */
  readonly channel: Channel
  readonly received_at: string
  /** The submitted data. Numbers past 2^53 lose digits, as everywhere in JavaScript; `text` keeps them. */
  readonly payload: Readonly<Record<string, unknown>>
  /** The first event with the same fields, of which this one is a repeat; a repeat creates no row and no delivery. */
  readonly repeat_of: number | null
  /** From a file, or from a poll's first run: never delivered. */
  readonly history: boolean
  /** When it was moved to the trash; null outside the trash. */
  readonly deleted_at: string | null
  /** Whether its sender was verified; absent if the source does not verify its sender. */
  readonly verified?: boolean
  /** True for spam by the rules of its source: the event has no row, and is not delivered. */
  readonly spam?: boolean
  /** The whole event as JSON text, with every digit as sent. */
  readonly text: string
}

/** An event of the feed, and the cursor to continue from. */
export interface FeedEvent extends StoredEvent {
  /**
   * Store it once the event is processed, and pass it as `after` the next time, so that no event is missed. Events of the
   * current page may be read again, because the cursor advances only at the end of a page.
   */
  readonly cursor: string
}

/** `now`, a time (RFC 3339), or a cursor. */
export type FeedBeginning = string | { readonly time: Date | string }

/** Which part of the feed to read. */
export interface FeedOptions {
  /** A cursor, valid only for the same source and channel. Default: the beginning of the feed. */
  readonly after?: string | undefined
  /** Where to begin without a stored cursor: `now`, a time, or a cursor. `after` takes precedence. */
  readonly from?: FeedBeginning | undefined
  /** Only events of this source. */
  readonly sourceId?: number | undefined
  /** Only events of this channel. */
  readonly channel?: Channel | undefined
  /** Events per page, 1 to 1000. Default 100. */
  readonly pageSize?: number | undefined
  /**
   * Whether to wait for new events, until `signal` is aborted or the cabinet is closed. Otherwise the iteration ends at the
   * current end of the feed.
   */
  readonly follow?: boolean | undefined
  /** Aborting it ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined
}

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** Parses an event, and keeps its JSON text with every digit. */
export const eventOf = (text: string): StoredEvent => ({ ...(JSON.parse(text) as Omit<StoredEvent, "text">), text })

/** Reads the next page. A follower waits until it has events, or until the caller ends the iteration. */
const nextPage = async (run: Run, params: Pairs, follows: boolean, end: AbortSignal): Promise<FeedResult> => {
  if (!follows) return await run(Feed.use((feed) => feed.page(params)))
  const leave = Latch.makeUnsafe(false)
  const open = () => void leave.openUnsafe()
  end.addEventListener("abort", open, { once: true })
  try {
    const next = FollowFeed.use((followed) => followed.next(params, { waitMillis: USUAL_WAIT_MILLIS, leave }))
    return (await run(next)).page
  } finally {
    end.removeEventListener("abort", open)
  }
}

/** Formats a date; an invalid one becomes a text that is refused later. */
const textOf = (date: Date): string => (Number.isNaN(date.getTime()) ? "An invalid date" : date.toISOString())

/** Returns where to begin. An empty stored cursor means the beginning of the feed. */
const cursorOf = async (run: Run, pairs: Pairs, { after = "", from }: FeedOptions): Promise<string | undefined> => {
  if (after !== "" || from === undefined || from === "") return after === "" ? undefined : after
  if (typeof from === "object") {
    const { time } = from
    return await run(Feed.use((feed) => feed.start(pairs, { time: typeof time === "string" ? time : textOf(time) })))
  }
  return from === "now" ? await run(Feed.use((feed) => feed.start(pairs, "now"))) : from
}

/**
 * Iterates over the feed. When `closing` is aborted, a follower ends normally, but an iteration to the feed's end fails,
 * because it would be incomplete.
 */
export async function* readFeed(
  run: Run,
  closing: AbortSignal,
  options: FeedOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  const pairs = (
    [
      ["source_id", options.sourceId],
      ["channel", options.channel],
      ["limit", options.pageSize],
    ] as const
  ).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  const ends = [
    ...(options.signal === undefined ? [] : [options.signal]),
    ...(options.follow === true ? [closing] : []),
  ]
  const end = AbortSignal.any(ends)
  // No cursor leads to the beginning of the feed, so events of the first page carry an empty one.
  let cursor = await cursorOf(run, pairs, options)
  let isFirst = true
  while (!end.aborted) {
    const params = cursor === undefined ? pairs : [...pairs, ["cursor", cursor] as const]
    const page = await nextPage(run, params, options.follow === true, end)
    // A client that resumes after a first page from elsewhere must not start at the beginning.
    const cursors = isFirst && options.from !== undefined ? page.cursors?.() : undefined
    isFirst = false
    for (const [index, text] of page.items.texts().entries()) {
      const done = cursors?.[index] ?? (index === page.items.length - 1 ? page.nextCursor : (cursor ?? ""))
      yield { ...eventOf(text), cursor: done }
      if (options.signal?.aborted === true) return
    }
    cursor = page.nextCursor
    if (!page.hasMore && options.follow !== true) return
  }
}
