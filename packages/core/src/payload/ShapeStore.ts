/** The shapes of payloads as they are stored, and the follower that learns them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { HeldFollower } from "../follower/FollowerStore.ts"
import type { PayloadShape } from "./PayloadShape.ts"
import type { LearnedEvents } from "./ShapeLearning.ts"

/** The kind and the name of the follower. */
export const SHAPES = "shapes"

/** Some events of one source. Those of a slice are in the order of the feed. */
export interface ShapedEvents extends LearnedEvents {
  readonly sourceId: number
}

/** Changes the shapes of the events' sources by these events. */
export type Learn = (
  shapes: ReadonlyMap<number, PayloadShape>,
  slice: ReadonlyArray<ShapedEvents>,
) => Effect.Effect<void>

/** How much one transaction learns from: whichever ends first, but at least one event. */
export interface ShapeSlice {
  readonly events: number
  readonly bytes: number
}

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class ShapeStore extends Context.Service<
  ShapeStore,
  {
    /**
     * Learns from the next events, for the holder of the follower, and moves it in the same transaction. With null it
     * learns for a reader, and does nothing while another process is moving the follower. Erased events are passed over.
     * Returns whether there may be more; null if the holder has lost its lease.
     */
    readonly learn: (learn: Learn, slice: ShapeSlice, held: HeldFollower | null) => Returns<boolean | null>
    /** The shapes of these sources as far as they are learned, empty ones without events, and the time in milliseconds. */
    readonly read: (
      sourceIds: ReadonlyArray<number>,
    ) => Returns<{ readonly shapes: ReadonlyMap<number, PayloadShape>; readonly now: number }>
  }
>()("@data-cabinet/core/payload/ShapeStore") {}
