/** The stored followers of clients: found by the fingerprint of a request's key or token. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPosition } from "../feed/FeedStore.ts"
import type { Acknowledged, FollowerFilter, KeptPosition } from "./ClientFollower.ts"

/** A follower with its position. */
export interface KeptFollower extends KeptPosition, FollowerFilter {
  readonly id: number
}

/** Identifies a follower: its owner and its name. */
export interface FollowerOf {
  readonly fingerprint: Uint8Array
  readonly name: string
}

/** The outcome of an acknowledgement. A follower with another filter is returned unchanged. */
export type AckOutcome =
  | { readonly refused: "key_full" | "cabinet_full" | "no_key" }
  | { readonly refused: null; readonly kept: KeptFollower; readonly moved: boolean }

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class ClientFollowerStore extends Context.Service<
  ClientFollowerStore,
  {
    /** Null if the key has no follower of this name. */
    readonly find: (of: FollowerOf) => Returns<KeptFollower | null>
    /**
     * Moves the position if `movesTo` says so, with the row locked. The first acknowledgement creates the follower at its
     * position, and so does one of a follower that was removed meanwhile.
     */
    readonly acknowledge: (of: FollowerOf, filter: FollowerFilter, acknowledged: Acknowledged) => Returns<AckOutcome>
    /** None if no client's follower has this id. */
    readonly get: (id: number) => Returns<Option.Option<KeptFollower>>
    /** Sets the position, forward or back. Returns whether the follower exists. */
    readonly reset: (id: number, position: FeedPosition) => Returns<boolean>
    /** Returns whether it was there. */
    readonly remove: (id: number) => Returns<boolean>
  }
>()("@data-cabinet/core/follower/ClientFollowerStore") {}
