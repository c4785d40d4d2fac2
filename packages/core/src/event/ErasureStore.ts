/** Reads events for an erasure, the oldest first, and counts what would go with them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export interface ErasableEvent {
  readonly id: number
  /** As JSON text. */
  readonly payload: string
  /** The payload of the event that it repeats; null if it is not a repeat. */
  readonly firstPayload: string | null
}

export interface ErasableEvents {
  readonly events: ReadonlyArray<ErasableEvent>
  readonly next: number | null
}

/** What an erasure takes. Each is counted once, also where stretch after stretch is added up. */
export interface ErasureCounts {
  /** Events other than repeats. */
  readonly events: number
  readonly repeats: number
  /** Of the events: those that have a row, or will. */
  readonly rows: number
  /** Of events and repeats: those whose original request is still kept, be it that of a batch with others. */
  readonly originals: number
  /** Those that wait to be sent, and are cancelled. */
  readonly deliveries: number
}

export class ErasureStore extends Context.Service<
  ErasureStore,
  {
    /**
     * The next events that are not erased yet, of one source or of all, behind the one with the number `after`: a
     * bounded number of them, and of bytes. `next` is the number after which to continue; null at the end.
     */
    readonly read: (after: number, sourceId: number | null) => Effect.Effect<ErasableEvents, StoreUnavailable>
    /** What goes with these events: with all that have the same body. */
    readonly count: (events: ReadonlyArray<number>) => Effect.Effect<ErasureCounts, StoreUnavailable>
  }
>()("@data-cabinet/core/event/ErasureStore") {}
