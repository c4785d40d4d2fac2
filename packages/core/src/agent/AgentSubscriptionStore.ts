/** Stores the subscriptions of agents: ordered addresses that were created with their keys and tokens. */
import { Context, type Effect } from "effect"
import type { Outcome } from "../delivery/Attempt.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"

/** The most subscriptions of a key or a token. */
export const MAX_SUBSCRIPTIONS_OF_KEY = 100
/** The most subscriptions of a cabinet: each of them reads the feed separately. */
export const MAX_SUBSCRIPTIONS = 1_000

/** The key or token of a request, as its store looks it up. */
export type HolderFingerprint = Uint8Array

/** The subscriber; a key that replaced another has the same `id`. */
export interface SubscriptionHolder {
  readonly kind: "key" | "token"
  readonly id: number
}

/** A subscription as it is stored. */
export interface NewSubscription {
  readonly holder: SubscriptionHolder
  /** The number by which its agent knows it. */
  readonly subscription: string
  readonly event: string
  /** Null: every source. */
  readonly sourceId: number | null
  readonly url: string
  readonly secret: string
  readonly lifeSeconds: number
  /** Where it begins, unless it is renewed. */
  readonly place: FeedPlace
}

/** A subscription that was made or renewed. */
export interface KeptSubscription {
  readonly is: "kept"
  /** RFC 3339. */
  readonly endsAt: string
  /** Everything up to here is delivered or given up. */
  readonly place: FeedPlace
  /** Null for a new subscription. */
  readonly health: SubscriptionHealth | null
}

/** How the deliveries of a subscription went before it was renewed. Times are RFC 3339. */
export interface SubscriptionHealth {
  readonly isPaused: boolean
  readonly deliveredAt: string | null
  /** Its first failed attempt since then, and the last one; null unless it is failing. */
  readonly failing: { readonly since: string; readonly last: Pick<Outcome, "status" | "failure"> } | null
}

/** Nothing was changed: the key, or the cabinet, has as many subscriptions as it may have. */
export interface TooManySubscriptions {
  readonly is: "too_many"
  readonly max: number
}

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class AgentSubscriptionStore extends Context.Service<
  AgentSubscriptionStore,
  {
    /** Null if no live key or token has this fingerprint. */
    readonly holder: (fingerprint: HolderFingerprint) => Returns<SubscriptionHolder | null>
    /** Whether this holder has a live subscription with this URL: the URL has then already answered a challenge. */
    readonly isVerified: (holder: SubscriptionHolder, url: string) => Returns<boolean>
    /** Creates a subscription, or renews a live one, which keeps its position. */
    readonly keep: (subscription: NewSubscription) => Returns<KeptSubscription | TooManySubscriptions>
    /** Returns false if there was no such subscription. */
    readonly end: (subscription: string) => Returns<boolean>
  }
>()("@data-cabinet/core/agent/AgentSubscriptionStore") {}
