/** The event feed, followed: each event once or more, none left out, through restarts of the server and of the client. */
import { CabinetError } from "./CabinetError.ts"
import { backoffMillis, pause } from "./Requests.ts"

/** An event of the feed. */
export interface FeedEvent {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  readonly channel: string
  readonly received_at: string
  readonly payload: Readonly<Record<string, unknown>> | null
  /** The first event with the same body; null for the first itself. */
  readonly repeat_of: number | null
  readonly history: boolean
  readonly deleted_at: string | null
  /** Whether the source's sender sent it; absent if the source does not verify its sender. */
  readonly verified?: boolean
  /** True for spam by the rules of its source: the event has no row, and is not delivered. */
  readonly spam?: boolean
}

/** One page of events, and the cursor after it. */
export interface FeedPage {
  readonly events: ReadonlyArray<FeedEvent>
  /** Where the feed continues after these events: store it together with your results. */
  readonly cursor: string
}

/** Keeps the cursor between two runs of a program. */
export interface CursorStore {
  readonly load: () => Promise<string | null | undefined> | string | null | undefined
  readonly save: (cursor: string) => Promise<void> | void
}

/** Which events to read, from where, and where to store the position. */
export interface FeedOptions {
  readonly sourceId?: number
  /** `webhook`, `file` or `pull`. */
  readonly channel?: string
  /** Where to begin; without it and without `cursors` at the beginning. */
  readonly cursor?: string | null
  readonly cursors?: CursorStore
  /** False: ends at the current end of the feed. True (the default): waits for new events. */
  readonly follow?: boolean
  /**
   * Least time between two looks at a feed that had nothing new; 1,000 by default. The server waits for new events
   * meanwhile.
   */
  readonly everyMillis?: number
  /** Events a page; 1,000 by default, which is the most. */
  readonly limit?: number
  readonly signal?: AbortSignal
  /** Called with every failure that is waited out. */
  readonly onRetry?: (error: CabinetError, waitMillis: number) => void
}

interface SentPage {
  readonly data: ReadonlyArray<FeedEvent>
  readonly has_more: boolean
  readonly next_cursor: string
}

/** `waitSeconds`: how long the server should wait before it returns an empty page; servers cap it. */
export type ReadFeed = (
  query: ReadonlyArray<readonly [string, string]>,
  waitSeconds: number,
  signal?: AbortSignal,
) => Promise<SentPage>

/** Proxies end a response that is silent for a minute, some after 30 seconds. */
const WAIT_SECONDS = 25

/** Tries until there is a page, or an error that does not pass. */
const patiently = async (read: () => Promise<SentPage>, { signal, onRetry }: FeedOptions): Promise<SentPage> => {
  for (let failures = 0; ; failures++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof CabinetError) || !error.isTemporary) throw error
      const wait = backoffMillis(failures, error)
      onRetry?.(error, wait)
      await pause(wait, signal)
    }
  }
}

/** Reads the feed page by page. With `follow` it waits at the end for new events; otherwise it ends there. */
export async function* feedPages(read: ReadFeed, options: FeedOptions): AsyncGenerator<FeedPage, void, void> {
  const { sourceId, channel, cursors, follow = true, everyMillis = 1000, limit = 1000, signal } = options
  const filter: Array<readonly [string, string]> = [["limit", String(limit)]]
  if (sourceId !== undefined) filter.push(["source_id", String(sourceId)])
  if (channel !== undefined) filter.push(["channel", channel])
  let cursor = options.cursor ?? (await cursors?.load()) ?? null
  while (true) {
    const at = cursor
    const query = at === null ? filter : [...filter, ["cursor", at] as const]
    const askedAt = performance.now()
    const page = await patiently(() => read(query, follow ? WAIT_SECONDS : 0, signal), options)
    cursor = page.next_cursor
    if (page.data.length > 0) yield { events: page.data, cursor }
    // Only now that the reader has come back for more: events it did not process are read again.
    if (cursor !== at) await cursors?.save(cursor)
    if (page.has_more) continue
    if (!follow) return
    // A server that is stopping does not wait, nor one of an earlier version.
    const left = everyMillis - (performance.now() - askedAt)
    if (page.data.length === 0 && left > 0) await pause(left, signal)
  }
}
