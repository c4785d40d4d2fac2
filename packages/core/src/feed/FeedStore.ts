/** The event feed: every event once, in the order of acceptance by transactions, behind the fence. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import type { Items } from "../pagination/Items.ts"

/** A place in the feed: after this event of this transaction of this epoch. Transaction ids need 64 bits. */
export interface FeedPlace {
  readonly epoch: number
  readonly xid: bigint
  readonly id: number
  /** When that event was received, in microseconds since 2000, by whatever clock; absent at the beginning. */
  readonly receivedAt?: bigint
}

/**
 * Where a client stands. A database that was set back may not know that place, while it knows one where the client was
 * before: so a position also tells where it left the epochs before, the last one first, and has a trail of earlier places.
 */
export interface FeedPosition extends FeedPlace {
  readonly left?: ReadonlyArray<FeedPlace>
  readonly trail?: FeedTrail
}

/** Earlier places of a client at growing distances, from all epochs: `FeedTrail.ts` reads and extends it. */
export interface FeedTrail {
  /** How many events the client has been shown since the latest of them. */
  readonly since: number
  readonly places: string
}

/** A position tells of this many epochs where they were left. */
export const LEFT_EPOCHS = 4

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
