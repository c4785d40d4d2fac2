/** The feed of a cabinet as an async iterable. */
import type { Channel } from "@data-cabinet/core/event/EventLog"
import { Feed } from "@data-cabinet/core/feed/Feed"
import type { Run } from "./RunEffect.ts"

export type { Channel }

/** An event as the API shows it, by the API's own names. Times are RFC 3339 in UTC. */
export interface StoredEvent {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  /** `webhook`: sent to the intake address, or by this program; `file`: imported; `pull`: polled. */
  readonly channel: Channel
  readonly received_at: string
  /** What was sent. Numbers past 2^53 lose digits here, as everywhere in JavaScript; `text` has them all. */
  readonly payload: Readonly<Record<string, unknown>>
  /** The first event with the same fields, of which this one is a repeat; it makes no row and no delivery. */
  readonly repeat_of: number | null
  /** From a file, or from a poll's first run: never delivered. */
  readonly history: boolean
  /** When it was put into the trash. */
  readonly deleted_at: string | null
  /** The whole event as JSON text, with every digit as it was sent. */
  readonly text: string
}

/** An event of the feed, and where to go on from. */
export interface FeedEvent extends StoredEvent {
  /**
   * Store it once the event is done with, and give it as `after` the next time: no event is missed then. Events of the
   * page that was under way may be read again, for it moves on at the end of a page.
   */
  readonly cursor: string
}

/** Which part of the feed to read. */
export interface FeedOptions {
  /** A cursor; without it the feed starts from the very beginning. It is good for the same source and channel only. */
  readonly after?: string | undefined
  /** Only events of this source. */
  readonly sourceId?: number | undefined
  /** Only events of this channel. */
  readonly channel?: Channel | undefined
  /** Events a page, 1 to 1000. Default 100. */
  readonly pageSize?: number | undefined
  /** Goes on and waits for what comes, until `signal` or the cabinet's `close`; without it the iteration ends where the feed ends now. */
  readonly follow?: boolean | undefined
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal | undefined
}

/** How often a follower looks, in milliseconds. */
const LOOK_MILLIS = 500

export const eventOf = (text: string): StoredEvent => ({ ...(JSON.parse(text) as Omit<StoredEvent, "text">), text })

/** Until it is time to look again, or one of the signals says that there is no need to. */
const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, LOOK_MILLIS)
    signal.addEventListener("abort", done, { once: true })
  })

/** A following ends by itself when `closing` does; an iteration to the feed's end is refused instead, for it would lack something. */
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
  // The first page has no cursor that leads to its own beginning, so its events carry an empty one.
  let cursor = options.after === "" ? undefined : options.after
  while (!end.aborted) {
    const params = cursor === undefined ? pairs : [...pairs, ["cursor", cursor] as const]
    const page = await run(Feed.use((feed) => feed.page(params)))
    for (const [index, text] of page.items.texts().entries()) {
      const done = index === page.items.length - 1 ? page.nextCursor : (cursor ?? "")
      yield { ...eventOf(text), cursor: done }
      if (options.signal?.aborted === true) return
    }
    cursor = page.nextCursor
    if (page.hasMore) continue
    if (options.follow !== true) return
    await pause(end)
  }
}
