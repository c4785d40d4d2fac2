/**
 * The events of a cabinet from the newest back, slice by slice. A slice examines a bounded number of events regardless
 * of filters, so that no filter can make it slow; the caller continues where it ended.
 */
import { Context, type Effect, Schema } from "effect"
import { type Actor, actorShape } from "../audit/Actor.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import type { Slice } from "../pagination/FillPage.ts"
import { type Channel, SPAM_REASONS, type SpamReason } from "./EventLog.ts"

/**
 * `row`: it has a row, or will; `repeat`: it repeats another; `empty`: no field is filled; `history`: it came with a
 * file or a first poll; `unverified`: its sender was not verified; `invalid`: it violates its source's own schema;
 * `spam`: its source counts it as spam; `trashed`: it can be restored; `purged`: it was erased.
 */
export const EVENT_STATES = [
  "row",
  "repeat",
  "empty",
  "history",
  "unverified",
  "invalid",
  "spam",
  "trashed",
  "purged",
] as const
/** A state by which events are listed. */
export type EventState = (typeof EVENT_STATES)[number]

/** `open`: not done; `unread`: neither read nor done. */
export const INBOX_MARKS = ["open", "unread", "done"] as const
/** A mark by which the messages of an inbox are listed. */
export type InboxMark = (typeof INBOX_MARKS)[number]

/** Which events a list has; null fields do not filter. */
export interface EventFilter {
  readonly sourceId: number | null
  readonly channel: Channel | null
  readonly state: EventState | null
  /** Only the event with this number. */
  readonly event: number | null
  /** Only events with this text in their payload as sent, ignoring case. */
  readonly text: string | null
  /** Received at this time or later; RFC 3339. */
  readonly from: string | null
  /** Received before this time; RFC 3339. */
  readonly to: string | null
  /** Only events that people marked so, as messages of an inbox. */
  readonly mark: InboxMark | null
}

/** The actor who put an event into the trash. */
export type TrashedBy = Pick<Actor, "kind" | "id" | "name">

/** The number of an event's deliveries, by state. */
export interface DeliveryCounts {
  readonly due: number
  readonly delivered: number
  readonly failed: number
  readonly cancelled: number
}

/** An event as listed. */
export interface ListedEvent {
  /** The Event as it appears in the feed, as JSON text. */
  readonly event: string
  readonly state: Exclude<EventState, "empty" | "history" | "unverified" | "invalid">
  /** Why it is spam; null if it is not, or no longer. */
  readonly spamReason: SpamReason | null
  readonly empty: boolean
  /** True while its row is deferred because the table is locked. */
  readonly rowWaits: boolean
  /** Null if it is not in the trash, or if the actor is unknown. */
  readonly trashedBy: TrashedBy | null
  readonly deliveries: DeliveryCounts
}

/** The JSON of what a list adds to the feed's event, and its description. */
export const listedShape = Shape.object<Omit<ListedEvent, "event">>("What became of an event.", {
  state: Shape.oneOf(["row", "repeat", "spam", "trashed", "purged"], "What became of it."),
  spamReason: Shape.orNull(Shape.oneOf(SPAM_REASONS), "Why it is spam; null if it is not."),
  empty: Shape.flag("Whether no field is filled."),
  rowWaits: Shape.flag("Whether its row follows: the table is locked, or refuses it so far."),
  trashedBy: Shape.eitherOrNull(
    actorShape("The actor that moved it to the trash."),
    "Null if it is not there, or if that is not known.",
  ),
  deliveries: Shape.object<DeliveryCounts>(
    "How many deliveries it has in which state. One in order counts by the position of its address, unless that has a filter.",
    {
      due: Shape.whole("To be sent, now or later."),
      delivered: Shape.whole("Delivered."),
      failed: Shape.whole("Given up."),
      cancelled: Shape.whole("Cancelled."),
    },
  ),
})

/** A place between two events of the list, as text; only the store interprets it. */
export type EventPlace = ReadonlyArray<string>

/** The list has come to events that are in files, where it does not search for text. */
export class TextInFiles extends Schema.TaggedError<TextInFiles>()("TextInFiles", {
  /** The time since which no event is in a file; RFC 3339. */
  since: Schema.String,
  /** Where the files are; null if this process does not know. */
  location: Schema.NullOr(Schema.String),
}) {}

export class EventListStore extends Context.Service<
  EventListStore,
  {
    /**
     * The next events, at most `limit`, in the reverse order of the feed; for the state `trashed`, the latest trashed
     * first. Examines at most `examine` events. `reached`: when the last examined event was received or trashed.
     */
    readonly slice: (query: {
      readonly filter: EventFilter
      readonly after: EventPlace | null
      readonly limit: number
      readonly examine: number
    }) => Effect.Effect<Slice<ListedEvent, EventPlace>, StoreUnavailable | TextInFiles>
  }
>()("@data-cabinet/core/event/EventListStore") {}
