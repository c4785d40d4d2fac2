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
  /**
   * A name under which the cabinet keeps the position, in place of `cursor` and `cursors`. A page is acknowledged when the
   * next one is requested: after a crash its events are returned again, and none is skipped.
   */
  readonly follower?: string
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
  /** Called with every failure after which it retries. */
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

/** Moves the position that the cabinet keeps to a cursor. */
export type Acknowledge = (query: ReadonlyArray<readonly [string, string]>, signal?: AbortSignal) => Promise<unknown>

/** Proxies end a response that is silent for a minute, some after 30 seconds. */
const WAIT_SECONDS = 25

/** Retries until it succeeds, or fails with a permanent error. */
const patiently = async <A>(read: () => Promise<A>, { signal, onRetry }: FeedOptions): Promise<A> => {
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

/** Fails for options that contradict each other. */
const checkOptions = ({ follower, cursor, cursors }: FeedOptions): void => {
  if (follower === undefined || ((cursor ?? null) === null && cursors === undefined)) return
  throw new TypeError("Pass follower, or cursor and cursors: the cabinet keeps the position of a follower.")
}

/** Reads the feed page by page. With `follow` it waits at the end for new events; otherwise it ends there. */
export async function* feedPages(
  read: ReadFeed,
  acknowledge: Acknowledge,
  options: FeedOptions,
): AsyncGenerator<FeedPage, void, void> {
  checkOptions(options)
  const { sourceId, channel, cursors, follower, follow = true, everyMillis = 1000, limit = 1000, signal } = options
  const filter: Array<readonly [string, string]> = []
  if (sourceId !== undefined) filter.push(["source_id", String(sourceId)])
  if (channel !== undefined) filter.push(["channel", channel])
  if (follower !== undefined) filter.push(["follower", follower])
  const first = [...filter, ["limit", String(limit)] as const]
  let cursor = options.cursor ?? (await cursors?.load()) ?? null
  while (true) {
    const at = cursor
    // A follower's position is read each time: it may have been reset meanwhile.
    const query = at === null || follower !== undefined ? first : [...first, ["cursor", at] as const]
    const askedAt = performance.now()
    const page = await patiently(() => read(query, follow ? WAIT_SECONDS : 0, signal), options)
    cursor = page.next_cursor
    if (page.data.length > 0) yield { events: page.data, cursor }
    // Acknowledged only when the reader requests more: events it did not process are read again.
    const end = cursor
    if (end !== at) await cursors?.save(end)
    if (follower !== undefined && page.data.length > 0) {
      await patiently(() => acknowledge([...filter, ["cursor", end] as const], signal), options)
    }
    if (page.has_more) continue
    if (!follow) return
    // A server that is stopping does not wait, and neither does one of an earlier version.
    const left = everyMillis - (performance.now() - askedAt)
    if (page.data.length === 0 && left > 0) await pause(left, signal)
  }
}
