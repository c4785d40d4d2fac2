/**
 * The events of a cabinet from the newest back, slice by slice. A slice examines a bounded number of events regardless
 * of filters, so that no filter can make it slow; the caller continues where it ended.
 */
import { Context, type Effect } from "effect"
import type { Actor } from "../audit/Actor.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Slice } from "../pagination/FillPage.ts"
import type { Channel } from "./EventLog.ts"

/**
 * `row`: it has a row, or will; `repeat`: it repeats another; `empty`: no field is filled; `history`: it came with a file or
 * a first poll; `unverified`: its request was not its sender's; `spam`: its source takes it for
 * spam; `trashed`: it can be restored; `purged`: it was erased.
 */
export const EVENT_STATES = ["row", "repeat", "empty", "history", "unverified", "spam", "trashed", "purged"] as const
export type EventState = (typeof EVENT_STATES)[number]

export interface EventFilter {
  readonly sourceId: number | null
  readonly channel: Channel | null
  readonly state: EventState | null
  /** Only the event of this number. */
  readonly event: number | null
  /** Only events with this text in their payload as it was sent, in lower or upper case. */
  readonly text: string | null
  /** Received at this time or later; RFC 3339. */
  readonly from: string | null
  /** Received before this time; RFC 3339. */
  readonly to: string | null
}

/** Who put an event into the trash. */
export type TrashedBy = Pick<Actor, "kind" | "id" | "name">

export interface DeliveryCounts {
  readonly due: number
  readonly delivered: number
  readonly failed: number
  readonly cancelled: number
}

export interface ListedEvent {
  /** The Event as it appears in the feed, as JSON text. */
  readonly event: string
  readonly state: Exclude<EventState, "empty" | "history" | "unverified">
  readonly empty: boolean
  /** True while its row is deferred because the table is locked. */
  readonly rowWaits: boolean
  /** Null if it is not in the trash, or if that is not known. */
  readonly trashedBy: TrashedBy | null
  readonly deliveries: DeliveryCounts
}

/** Between two events of the list, as text; its meaning is the store's. */
export type EventPlace = ReadonlyArray<string>

export class EventListStore extends Context.Service<
  EventListStore,
  {
    /**
     * The next at most `limit` events in the order of the feed, backwards; for the state `trashed` those that were trashed
     * last come first. Looks at no more than `examine` events. `reached` is when the last of them was received or trashed.
     */
    readonly slice: (query: {
      readonly filter: EventFilter
      readonly after: EventPlace | null
      readonly limit: number
      readonly examine: number
    }) => Effect.Effect<Slice<ListedEvent, EventPlace>, StoreUnavailable>
  }
>()("@data-cabinet/core/event/EventListStore") {}
