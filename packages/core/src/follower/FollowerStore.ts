/** Followers as they are stored: each a position in the feed, with a lease for the process that does its work. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"

/** A follower that this process may act for until its lease ends. */
export interface HeldFollower {
  readonly id: number
  readonly kind: string
  readonly name: string
  /** The fencing token of this claim. */
  readonly lease: number
}

/** Where a follower is, and why it does not move. */
export interface FollowerState {
  readonly id: number
  readonly kind: string
  readonly name: string
  /** The last event whose work is done; null before the first. */
  readonly eventId: number | null
  /** When the position last moved, RFC 3339. */
  readonly movedAt: string | null
  /** Events after its position, counted up to `MOST_BEHIND`. */
  readonly behind: number
  /** Seconds that the oldest of them has waited; 0 if no event waits. */
  readonly behindSeconds: number
  /** Failures since the position last moved. */
  readonly failures: number
  /** The last failure, or null. */
  readonly error: string | null
  /** When it is tried again after a failure, RFC 3339; null without one. */
  readonly retryAt: string | null
  /** Whether it waits until a person resumes it. */
  readonly paused: boolean
  /** The process that works on it; null between two turns. */
  readonly holder: string | null
  /** The name of the key whose programs acknowledge it; null for the cabinet's own work. */
  readonly key: string | null
  /** The source whose events it reads; null for all. */
  readonly sourceId: number | null
  /** The channel whose events it reads; null for all. */
  readonly channel: Channel | null
}

/** The kind of followers whose work is a client's. */
export const CLIENT_KIND = "client"

/** The most events behind a follower that are counted. */
export const MOST_BEHIND = 10_000

/** How long a claim is valid without a move. A turn of work takes at most eight seconds. */
export const LEASE_MILLIS = 30_000

type Returns<A> = Effect.Effect<A, StoreUnavailable>

/** Each of the changes locks the follower's row, and decides by `FollowerLease`. */
export class FollowerStore extends Context.Service<
  FollowerStore,
  {
    /** Claims one follower of the kind that has events after its position; none if all are held or waiting. */
    readonly claim: (kind: string) => Returns<Option.Option<HeldFollower>>
    /** Keeps the position and the error; the follower waits. Returns its failures in a row, or 0 if the lease is lost. */
    readonly fail: (held: HeldFollower, error: string) => Returns<number>
    /** Ends the claim; the follower rests this long. */
    readonly release: (held: HeldFollower, restMillis: number) => Returns<void>
    /** Milliseconds until a follower of the kind that has events after it may be claimed; null without one. */
    readonly nextDue: (kind: string) => Returns<number | null>
    readonly list: Returns<ReadonlyArray<FollowerState>>
  }
>()("@data-cabinet/core/follower/FollowerStore") {}
