/**
 * Stores what `Trash` decides. Every call changes all of the given events, or none; then the result names the missing
 * ones.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { TrashedBy } from "./EventListStore.ts"

/** The outcome of a call: what changed, or what is missing. */
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
     * Deletes rows, sets `deleted_at`, records who did it, and cancels outstanding deliveries. Events of other sources
     * count as missing.
     */
    readonly trash: (sourceId: number, events: ReadonlyArray<number>, by: TrashedBy | null) => Returns
    /**
     * Restores events that are in the trash and not purged. Spam outside the trash becomes ordinary events, with rows
     * and deliveries. Events of other sources count as missing.
     */
    readonly untrash: (sourceId: number, events: ReadonlyArray<number>) => Returns
    /** Erases the events and their repeats. */
    readonly purge: (events: ReadonlyArray<number>) => Returns
  }
>()("@data-cabinet/core/event/TrashStore") {}
