/** Destinations as they are stored, each with its follower. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"
import type { HeldFollower } from "../follower/FollowerStore.ts"
import type { DestinationPlace, HeldCredentials, NewDestination, StoredDestination } from "./Destination.ts"
import type { DestinationCredentials } from "./DestinationCredentials.ts"
import type { S3Settings } from "./S3Settings.ts"

/** Why a destination is not created. */
export type AddObstacle = "exists" | "full" | "no_source"

/** How a bucket is reached from now on. */
export interface StoredChange extends S3Settings {
  /** Null leaves them as they are. */
  readonly credentials: DestinationCredentials | null
}

/** A destination at work. */
export interface DestinationWork {
  readonly destination: StoredDestination & { readonly credentials: HeldCredentials }
  /** After the last event that is known to be there. */
  readonly place: FeedPlace
  /** The end of the slice that was begun last; null before the first. */
  readonly planned: FeedPlace | null
}

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class DestinationStore extends Context.Service<
  DestinationStore,
  {
    readonly add: (
      destination: Omit<NewDestination, "from"> & Pick<StoredDestination, "tag">,
      start: FeedPlace,
    ) => Returns<StoredDestination | AddObstacle>
    /** By id. */
    readonly list: Returns<ReadonlyArray<StoredDestination>>
    /** What an adapter needs to open it. */
    readonly place: (id: number) => Returns<Option.Option<DestinationPlace>>
    /** It is due at once. Returns false, without an effect, if its settings are no longer `was`, or it is gone. */
    readonly change: (id: number, was: S3Settings, change: StoredChange) => Returns<boolean>
    /** Moves it back to the start of the feed, and ends the current claim. Returns whether there is such a destination. */
    readonly restart: (id: number, tag: string) => Returns<boolean>
    /** Returns whether there is such a destination. */
    readonly pause: (id: number) => Returns<boolean>
    /** It is due at once. Returns whether there is such a destination. */
    readonly resume: (id: number) => Returns<boolean>
    /** Returns whether it was there. */
    readonly remove: (id: number) => Returns<boolean>
    /** The held destination, with the lease renewed; "lost" if another process has it, none if nothing is to be done. */
    readonly work: (held: HeldFollower) => Returns<Option.Option<DestinationWork> | "lost">
    /** Stores where a slice will end, before it is written. Returns whether the lease is still the current one. */
    readonly plan: (held: HeldFollower, to: FeedPlace) => Returns<boolean>
    /** Moves the position forward. Returns whether the lease is still the current one. */
    readonly move: (held: HeldFollower, to: FeedPlace) => Returns<boolean>
  }
>()("@data-cabinet/core/destination/DestinationStore") {}
