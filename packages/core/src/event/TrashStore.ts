/**
 * Stores what `Trash` decides. Every call applies to all of the given events, or to none: then the result names those that
 * are missing.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { TrashedBy } from "./EventListStore.ts"

export interface TrashResult {
  /** How many events were changed; 0 if any is missing. */
  readonly changed: number
  /** The given events that do not exist, in the given order. */
  readonly missing: ReadonlyArray<number>
}

type Returns = Effect.Effect<TrashResult, StoreUnavailable>

export class TrashStore extends Context.Service<
  TrashStore,
  {
    /**
     * Deletes rows, sets `deleted_at`, notes who did it and cancels outstanding deliveries; only events of this source exist
     * for it.
     */
    readonly trash: (sourceId: number, events: ReadonlyArray<number>, by: TrashedBy | null) => Returns
    /**
     * Restores events that are in the trash and not purged, and makes those that are spam and not there ordinary ones, with their
     * rows and deliveries; only events of this source exist for it.
     */
    readonly untrash: (sourceId: number, events: ReadonlyArray<number>) => Returns
    /** Erases the events and their repeats. */
    readonly purge: (events: ReadonlyArray<number>) => Returns
  }
>()("@data-cabinet/core/event/TrashStore") {}
