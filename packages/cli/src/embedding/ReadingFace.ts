/** Reading a cabinet: its feed as an async iterable, and rows by a selection. */
import type { Channel } from "@data-cabinet/core/event/EventLog"
import { Feed } from "@data-cabinet/core/feed/Feed"
import type { Column } from "@data-cabinet/core/row/Table"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import type { Run } from "./RunEffect.ts"

export type { Channel, Column }

/** An event as the API shows it, and where to go on from. */
export interface FeedEvent {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  readonly channel: Channel
  readonly received_at: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly repeat_of: number | null
  readonly history: boolean
  readonly deleted_at: string | null
  /**
   * Store it once the event is done with, and give it as `after` the next time: no event is missed then. Events of the
   * page that was under way may come again, for it moves on at the end of a page.
   */
  readonly cursor: string
}

export interface FeedOptions {
  /** A cursor; without it the feed starts from the very beginning. It is good for the same source and channel only. */
  readonly after?: string | undefined
  readonly sourceId?: number | undefined
  readonly channel?: Channel | undefined
  /** Events a page, 1 to 1000. Default 100. */
  readonly pageSize?: number | undefined
  /** Goes on for ever, waiting for what comes; without it the iteration ends where the feed ends now. */
  readonly follow?: boolean | undefined
  /** Ends a following. */
  readonly signal?: AbortSignal | undefined
}

/** The selection's parameters by their names in the API; those that repeat as lists. */
export type RowsQuery = Readonly<Record<string, string | number | ReadonlyArray<string>>>

export interface RowsResult {
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly columns: ReadonlyArray<Column>
  readonly hasMore: boolean
  readonly nextCursor: string | null
  /** The rows as JSON text, with every digit that the database holds. */
  readonly texts: ReadonlyArray<string>
}

/** How often a follower looks, in milliseconds. */
const LOOK_MILLIS = 500

const pause = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, LOOK_MILLIS)
    signal?.addEventListener("abort", done, { once: true })
  })

export async function* readFeed(run: Run, options: FeedOptions): AsyncGenerator<FeedEvent, void, undefined> {
  const pairs = (
    [
      ["source_id", options.sourceId],
      ["channel", options.channel],
      ["limit", options.pageSize],
    ] as const
  ).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  const isAborted = () => options.signal?.aborted === true
  let cursor = options.after
  while (!isAborted()) {
    const params = cursor === undefined ? pairs : [...pairs, ["cursor", cursor] as const]
    const page = await run(Feed.use((feed) => feed.page(params)))
    for (const [index, item] of page.items.entries()) {
      const done = index === page.items.length - 1 ? page.nextCursor : (cursor ?? "")
      yield { ...(JSON.parse(item) as Omit<FeedEvent, "cursor">), cursor: done }
      if (isAborted()) return
    }
    cursor = page.nextCursor
    if (page.hasMore) continue
    if (options.follow !== true) return
    await pause(options.signal)
  }
}

export const readRows = async (run: Run, object: string, query: RowsQuery): Promise<RowsResult> => {
  const dot = object.indexOf(".")
  const params = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === "object" ? value : [String(value)]).map((text) => [name, text] as const),
  )
  const page = await run(
    SelectRows.use((rows) =>
      rows.page({ schema: object.slice(0, Math.max(0, dot)), name: object.slice(dot + 1), params }),
    ),
  )
  return {
    rows: page.items.map((item) => JSON.parse(item) as Readonly<Record<string, unknown>>),
    columns: page.columns,
    hasMore: page.hasMore,
    nextCursor: page.nextCursor,
    texts: page.items,
  }
}
