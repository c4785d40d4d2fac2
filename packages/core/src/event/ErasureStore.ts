/** Reads events for an erasure, oldest first, and counts everything that would be erased with them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** An event that an erasure examines. */
export interface ErasableEvent {
  readonly id: number
  /** As JSON text. */
  readonly payload: string
  /** The payload of the event that it repeats; null if it is not a repeat. */
  readonly firstPayload: string | null
}

/** A stretch of events, and where the next one begins. */
export interface ErasableEvents {
  readonly events: ReadonlyArray<ErasableEvent>
  readonly next: number | null
}

/** The counts of an erasure. Each item is counted once, even when stretches are added up. */
export interface ErasureCounts {
  /** Events other than repeats. */
  readonly events: number
  readonly repeats: number
  /** Events that have a row, or will. */
  readonly rows: number
  /** Events and repeats whose original request is still kept, even if it is a batch with others. */
  readonly originals: number
  /** Deliveries still waiting; they are cancelled. */
  readonly deliveries: number
}

export class ErasureStore extends Context.Service<
  ErasureStore,
  {
    /**
     * The next events that are not erased yet, of one source or of all, after the one with the number `after`: a
     * bounded number of them, and of bytes. `next` is the number after which to continue; null at the end.
     */
    readonly read: (after: number, sourceId: number | null) => Effect.Effect<ErasableEvents, StoreUnavailable>
    /** Everything that would be erased with these events and their repeats. */
    readonly count: (events: ReadonlyArray<number>) => Effect.Effect<ErasureCounts, StoreUnavailable>
  }
>()("@data-cabinet/core/event/ErasureStore") {}
