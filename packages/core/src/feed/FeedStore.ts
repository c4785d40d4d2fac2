/** The event feed: every event once, in the order in which transactions accepted them, below the fence. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import type { Items } from "../pagination/Items.ts"

/** A place in the feed: after this event of this transaction of this epoch. Transaction ids need 64 bits. */
export interface FeedPlace {
  readonly epoch: number
  readonly xid: bigint
  readonly id: number
  /** When that event was received, in microseconds since 2000, by the clock of that time; absent at the beginning. */
  readonly receivedAt?: bigint
}

/**
 * The position of a client. A restored database may not know the client's place and still know an earlier one. Therefore a
 * position also contains the places where the client left previous epochs, the latest first, and a trail of earlier places.
 */
export interface FeedPosition extends FeedPlace {
  readonly left?: ReadonlyArray<FeedPlace>
  readonly trail?: FeedTrail
}

/** Earlier places of a client at growing distances, across all epochs; `FeedTrail.ts` reads and extends it. */
export interface FeedTrail {
  /** How many events the client has been shown since the latest of these places. */
  readonly since: number
  readonly places: string
}

/** How many previous epochs a position remembers. */
export const KEPT_EPOCHS = 4

/** The beginning of the feed. */
export const FEED_START: FeedPosition = { epoch: 0, xid: 0n, id: 0 }

/** Which events to read, and from where. */
export interface FeedQuery {
  readonly after: FeedPosition
  readonly limit: number
  readonly sourceId: number | null
  /** Only events of these sources; absent: all sources. */
  readonly sources?: ReadonlyArray<number>
  readonly channel: Channel | null
  /** Reads after this very place even if the database lacks its event, which moves a client back. */
  readonly exactly?: boolean
}

/** A page of events, and where to continue. */
export interface FeedPage {
  /** Each item is an Event, with its payload as stored. */
  readonly items: Items
  /** Where to continue: the place of the last item, or `after` on an empty page. */
  readonly next: FeedPosition
  /** Where to continue after an item, counted from 0. */
  readonly behind: (index: number) => FeedPosition
  readonly hasMore: boolean
}

/** Reads the feed. Returns only events before which no running accept can still commit another. */
export class FeedStore extends Context.Service<
  FeedStore,
  { readonly page: (query: FeedQuery) => Effect.Effect<FeedPage, StoreUnavailable> }
>()("@data-cabinet/core/feed/FeedStore") {}
