/** The event feed: every event once, in the order of acceptance by transactions, behind the fence. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import type { Items } from "../page/Items.ts"

/** A place in the feed: after this event of this transaction of this epoch. Transaction ids need 64 bits. */
export interface FeedPosition {
  readonly epoch: number
  readonly xid: bigint
  readonly id: number
}

export const FEED_START: FeedPosition = { epoch: 0, xid: 0n, id: 0 }

export interface FeedQuery {
  readonly after: FeedPosition
  readonly limit: number
  readonly sourceId: number | null
  readonly channel: Channel | null
}

export interface FeedPage {
  /** Each an Event, its payload as it was stored. */
  readonly items: Items
  /** Where to go on from: the place of the last item, or `after` again when there was none. */
  readonly next: FeedPosition
  readonly hasMore: boolean
}

/** Reads the feed. Shows only what no accept still running can come to stand before. */
export class FeedStore extends Context.Service<
  FeedStore,
  { readonly page: (query: FeedQuery) => Effect.Effect<FeedPage, StoreUnavailable> }
>()("@data-cabinet/core/feed/FeedStore") {}
