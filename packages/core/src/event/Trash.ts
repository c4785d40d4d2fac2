/** Deletes events: to the trash, from where they can be restored, or for good. An event's place in the feed is always kept. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export class TrashError extends Schema.TaggedError<TrashError>()("TrashError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events"]),
  message: Schema.String,
}) {}

/** The maximum number of events in one call. */
export const MAX_TRASH_EVENTS = 10_000

export class Trash extends Context.Service<
  Trash,
  {
    /**
     * Deletes the rows of these events of a source, sets `deleted_at` in the feed and cancels outstanding deliveries.
     * Applies to all of them, or to none if one is not of this source. Returns how many were not in the trash before.
     */
    readonly trash: (
      sourceId: number,
      events: ReadonlyArray<number>,
    ) => Effect.Effect<number, TrashError | StoreUnavailable>
    /** Restores events from the trash: their rows come back, cancelled deliveries do not. Purged events stay purged. */
    readonly untrash: (
      sourceId: number,
      events: ReadonlyArray<number>,
    ) => Effect.Effect<number, TrashError | StoreUnavailable>
    /**
     * Erases for good what was sent: payload, original request (and with it that of a whole batch), row, marks that could
     * reveal its content, and what receivers responded. Repeats of the events are purged with them.
     */
    readonly purge: (events: ReadonlyArray<number>) => Effect.Effect<number, TrashError | StoreUnavailable>
  }
>()("@data-cabinet/core/event/Trash") {}
