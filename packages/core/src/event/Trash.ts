/** Taking events back: to the trash and out of it again, or for good. An event's place in the feed is kept in every case. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export class TrashError extends Schema.TaggedError<TrashError>()("TrashError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events"]),
  message: Schema.String,
}) {}

/** Events one call may name. */
export const MAX_TRASH_EVENTS = 10_000

export class Trash extends Context.Service<
  Trash,
  {
    /**
     * Deletes the rows of these events of a source, sets `deleted_at` in the feed and cancels what was not yet delivered.
     * All of them or, when one is not this source's, none. Answers how many were not in the trash before.
     */
    readonly trash: (
      sourceId: number,
      events: ReadonlyArray<number>,
    ) => Effect.Effect<number, TrashError | StoreUnavailable>
    /** Takes events out of the trash: their rows come back, cancelled deliveries do not. Purged ones stay purged. */
    readonly untrash: (
      sourceId: number,
      events: ReadonlyArray<number>,
    ) => Effect.Effect<number, TrashError | StoreUnavailable>
    /**
     * Erases for good what was sent: payload, original request (with it that of a whole batch), row, marks that could
     * tell its content, and what receivers answered. Repeats of the events are purged with them.
     */
    readonly purge: (events: ReadonlyArray<number>) => Effect.Effect<number, TrashError | StoreUnavailable>
  }
>()("@data-cabinet/core/event/Trash") {}
