/**
 * Deletes events: to the trash, from where they can be restored, or for good. An event always keeps its place in the
 * feed. Refuses events that do not exist, and too many in one call.
 */
import { noSuchEvent } from "../error/NoSuchEvent.ts"
import { Context, Effect, Layer, Schema } from "effect"
import { CurrentActor } from "../audit/Actor.ts"
import { DeliverySignal } from "../delivery/DeliverySignal.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type TrashResult, TrashStore } from "./TrashStore.ts"

/** A refused operation on the trash. */
export class TrashError extends Schema.TaggedError<TrashError>()("TrashError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events"]),
  message: Schema.String,
}) {}

/** The maximum number of events in one call. */
export const MAX_TRASH_EVENTS = 10_000

type Returns = Effect.Effect<number, TrashError | StoreUnavailable>

export class Trash extends Context.Service<
  Trash,
  {
    /**
     * Deletes the rows of these events of a source, sets `deleted_at` in the feed and cancels outstanding deliveries.
     * Applies to all of them, or to none if one is not of this source. Returns how many were not in the trash before.
     */
    readonly trash: (sourceId: number, events: ReadonlyArray<number>) => Returns
    /**
     * Restores events from the trash: their rows come back, cancelled deliveries do not. Purged events stay purged.
     * Spam outside the trash becomes an ordinary event: it gets its row, and is delivered as a new one.
     */
    readonly untrash: (sourceId: number, events: ReadonlyArray<number>) => Returns
    /**
     * Erases the sent data for good: payload, original request (even of a whole batch), row, marks that could reveal
     * its content, and receivers' responses. Repeats of the events are purged with them.
     */
    readonly purge: (events: ReadonlyArray<number>) => Returns
  }
>()("@data-cabinet/core/event/Trash") {
  static readonly layer = Layer.effect(
    Trash,
    Effect.zipWith(TrashStore, DeliverySignal, (store, signal) =>
      Trash.of({
        trash: (sourceId, events) =>
          limited(events, (ids) =>
            CurrentActor.use((by) => Effect.flatMap(store.trash(sourceId, ids, by), unlessMissingOf(sourceId))),
          ),
        untrash: (sourceId, events) =>
          limited(events, (ids) =>
            Effect.tap(Effect.flatMap(store.untrash(sourceId, ids), unlessMissingOf(sourceId)), signal.wake),
          ),
        purge: (events) =>
          limited(events, (ids) =>
            Effect.flatMap(store.purge(ids), ({ changed, missing: [first] }) =>
              first === undefined ? Effect.succeed(changed) : missing(noSuchEvent(first)),
            ),
          ),
      }),
    ),
  )
}

const missing = (message: string) => Effect.fail(new TrashError({ code: "no_such_event", message }))

const unlessMissingOf =
  (sourceId: number) =>
  ({ changed, missing: not }: TrashResult) =>
    not.length === 0
      ? Effect.succeed(changed)
      : missing(`Source ${sourceId} has no event ${not.slice(0, 5).join(", ")}${not.length > 5 ? ", …" : ""}.`)

/** Passes the events on without duplicates, up to the limit. */
const limited = (events: ReadonlyArray<number>, work: (events: ReadonlyArray<number>) => Returns): Returns =>
  events.length > MAX_TRASH_EVENTS
    ? Effect.fail(
        new TrashError({
          code: "too_many_events",
          message: `At most ${MAX_TRASH_EVENTS} events at a time; there were ${events.length}.`,
        }),
      )
    : work([...new Set(events)])
