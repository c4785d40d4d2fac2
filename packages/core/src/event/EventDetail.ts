/** Everything stored for one event, for the cabinet's operator. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import type { Original, SpamReason } from "./EventLog.ts"

/** The original request as stored; `receivedAt` is RFC 3339 in UTC. */
export interface StoredOriginal extends Original {
  readonly receivedAt: string
  /** Null unless its source verified the sender. */
  readonly verdict: EventVerdict | null
  /** The outcome of a late verification; null without one. */
  readonly late: LaterVerdict | null
}

/** The verdict of a verification after an event was accepted. Times are RFC 3339 in UTC. */
export interface LaterVerdict extends EventVerdict {
  readonly at: string
  /** When its events were delivered as a result; null if they were not. */
  readonly deliveredAt: string | null
}

/** Everything stored for one event. */
export interface EventRecord {
  /** The Event as it appears in the feed, as JSON text. */
  readonly event: string
  readonly sourceId: number
  /** The table of its source; null once the table was dropped. */
  readonly table: { readonly schema: string; readonly name: string } | null
  /** True while its row is deferred because the table is locked. */
  readonly rowWaits: boolean
  /** Why its row is set aside, in words: it is not in the table, or not with all fields. Null if it is not set aside. */
  readonly rowSetAside: string | null
  /** Why it is spam; null if it is not, or no longer. */
  readonly spam: SpamReason | null
  /** Null if it has none (files, polls, the library), or after its retention period. */
  readonly original: StoredOriginal | null
}

/** The message for an event without an original request. */
export const NO_ORIGINAL = "The event has no original request, or it has expired."

export class EventDetail extends Context.Service<
  EventDetail,
  { readonly find: (id: number) => Effect.Effect<Option.Option<EventRecord>, StoreUnavailable> }
>()("@data-cabinet/core/event/EventDetail") {}
