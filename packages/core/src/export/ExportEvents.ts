/** Exports all events after a cursor, and returns the cursor at which the next file begins. */
import { Effect } from "effect"
import { type StoreUnavailable, whenAvailable } from "../error/StoreUnavailable.ts"
import { Feed } from "../feed/Feed.ts"
import type { FeedError } from "../feed/FeedError.ts"
import { Items } from "../pagination/Items.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import type { EncodedRows } from "./ExportFormat.ts"

/** The events of an export, and the cursor after them. */
export interface ExportedEvents extends EncodedRows {
  /** Whether the export has no events. */
  readonly isEmpty: boolean
  /** The cursor after the last returned event. */
  readonly nextCursor: () => string
}

/** In the order of an event's members. */
const TYPES = {
  id: "bigint",
  source: "jsonb",
  channel: "text",
  received_at: "timestamp with time zone",
  payload: "json",
  repeat_of: "bigint",
  history: "boolean",
  deleted_at: "timestamp with time zone",
  verified: "boolean",
  spam: "boolean",
} as const

const COLUMNS = Object.entries(TYPES).map(([name, type]) => ({ name, type, label: name, comment: null }))

/** Optional last members of an event: whether its sender was verified, and whether it is spam. */
const SAYS = /(,"verified":(?:true|false))?(,"spam":true)?\}$/

const withEveryMember = (event: string): string =>
  event.replace(SAYS, (_, verified = ',"verified":null', spam = ',"spam":false') => `${verified}${spam}}`)

const wholeEvents = (items: Items): Items => itemsOf(items.texts().map(withEveryMember))

/** Events that are at hand, each with every member that an event may have, as rows to encode. */
export const eventRows = (events: ReadonlyArray<Items>): EncodedRows => ({
  columns: COLUMNS,
  declared: [],
  // oxlint-disable-next-line require-await
  batches: (async function* () {
    for (const items of events) yield wholeEvents(items)
  })(),
})

/** `asSent`: an event has the members that the feed gives it, instead of every member that an event may have. */
export const exportEvents = Effect.fnUntraced(function* (
  after: string | undefined,
  asSent: boolean,
): Effect.fn.Return<ExportedEvents, FeedError | StoreUnavailable, Feed> {
  const feed = yield* Feed
  const context = yield* Effect.context()
  const page = (cursor: string | undefined) =>
    feed.page([["limit", String(MAX_LIMIT)], ...(cursor === undefined ? [] : [["cursor", cursor] as const])])
  const first = yield* page(after)
  const isEmpty = first.items.length === 0 && !first.hasMore
  let cursor = isEmpty ? first.nextCursor : (after ?? "")
  const batches = async function* () {
    for (let read = first; ;) {
      if (read.items.length > 0) yield asSent ? read.items : wholeEvents(read.items)
      cursor = read.nextCursor
      if (!read.hasMore) return
      read = await Effect.runPromiseWith(context)(whenAvailable(page(cursor)))
    }
  }
  return {
    columns: COLUMNS,
    declared: [],
    batches: batches(),
    isEmpty,
    nextCursor: () => cursor,
    metadata: () => ({ "data_cabinet.next_cursor": cursor }),
  }
})

const itemsOf = (texts: ReadonlyArray<string>): Items => {
  const pieces = texts.map((text) => Buffer.from(`${text},`))
  let end = 0
  return new Items(
    Buffer.concat(pieces),
    0,
    pieces.map(({ length }) => {
      end += length
      return end - 1
    }),
  )
}
