/** Reads the events that `LateVerification` checks, and stores its findings. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { KeptRequest } from "./LateCheck.ts"
import type { RecipeName } from "./Recipes.ts"
import type { RefusalReason } from "./VerifySender.ts"

/** An event to verify. */
export interface LateEvent {
  readonly id: number
  readonly sourceId: number
  /** Its current verdict; null if its sender was never verified. */
  readonly verified: boolean | null
  /** The number of its original request; null without one, or if it has expired. */
  readonly requestId: number | null
  /** Null for a verified one, which needs no check. */
  readonly request: KeptRequest | null
  /** It was verified late, and not yet delivered as a result. */
  readonly undelivered: boolean
}

/** The finding about the original request of this number. */
export interface LateFinding {
  readonly requestId: number
  readonly recipe: RecipeName
  readonly refusal: RefusalReason | null
}

/** Epoch, transaction id and number of an event. */
export type LatePlace = ReadonlyArray<string>

/** Some events of a source, and where the next slice begins. */
export interface LateSlice {
  /** The events whose requests should be checked or, if requested, delivered. */
  readonly events: ReadonlyArray<number>
  readonly seen: number
  /** The next slice begins after this; null after the last. */
  readonly next: LatePlace | null
}

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class LateVerificationStore extends Context.Service<
  LateVerificationStore,
  {
    /** The first of the events that does not exist; null if all do. */
    readonly missing: (events: ReadonlyArray<number>) => Returns<number | null>
    /** Those of the events that exist. */
    readonly find: (events: ReadonlyArray<number>) => Returns<ReadonlyArray<LateEvent>>
    /** Examines a bounded number of a source's events whose original requests may still be stored, oldest first. */
    readonly slice: (options: {
      readonly sourceId: number
      readonly after: LatePlace | null
      readonly limit: number
      /** Whether to include events that were verified late and not delivered. */
      readonly undelivered: boolean
    }) => Returns<LateSlice>
    /**
     * Stores the findings beside the verdicts of intake. From then on, a successful finding is the verdict of all
     * events of the request, for good.
     */
    readonly record: (findings: ReadonlyArray<LateFinding>) => Returns<void>
    /**
     * Creates the deliveries of a source's late-verified requests among these, by the current filters, once for each
     * request, even with concurrent callers. Returns how many.
     */
    readonly deliver: (sourceId: number, requests: ReadonlyArray<number>) => Returns<number>
  }
>()("@data-cabinet/core/verification/LateVerificationStore") {}
