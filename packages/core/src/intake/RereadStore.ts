/** Reads the events that `Rereading` decodes again, and writes the results. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ReadableOriginal, Reread } from "./RereadOriginal.ts"
import type { OriginalSlice, SliceQuery } from "../event/OriginalSlice.ts"

/** An event to reread. */
export interface RereadEvent {
  readonly id: number
  readonly inTrash: boolean
  /** As JSON. */
  readonly payload: string
  /** Its source's own schema, as text; null without one. */
  readonly schema: string | null
  /** Null without an original request, or if it has expired. */
  readonly original: ReadableOriginal | null
}

/**
 * Returns what to store for an event; null to leave it unchanged. Called with the event locked, possibly more than
 * once.
 */
export type RereadDecision = (event: RereadEvent) => Reread | null

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class RereadStore extends Context.Service<
  RereadStore,
  {
    /** The first of the events that does not exist; null if all do. */
    readonly missing: (events: ReadonlyArray<number>) => Returns<number | null>
    /** The events that exist. */
    readonly find: (events: ReadonlyArray<number>) => Returns<ReadonlyArray<RereadEvent>>
    /** The events whose originals are kept, without those in JSON that was read whole. */
    readonly slice: (query: SliceQuery) => Returns<OriginalSlice>
    /** How many successful deliveries each of the events has that would be sent again. */
    readonly countResent: (events: ReadonlyArray<number>) => Returns<ReadonlyMap<number, number>>
    /**
     * Changes events, their rows and the readings of their originals in one transaction. With `deliver`, a follower makes the
     * changed events' successful deliveries due again, and each address that is as old as the event and has no delivery of
     * it gets one. Returns how many deliveries that makes due.
     */
    readonly change: (events: ReadonlyArray<number>, decide: RereadDecision, deliver: boolean) => Returns<number>
  }
>()("@data-cabinet/core/intake/RereadStore") {}
