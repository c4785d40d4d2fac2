/** Reads the events that `LateVerification` checks, and stores its findings. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { OriginalSlice, SliceQuery } from "./OriginalSlice.ts"
import type { KeptRequest } from "../verification/LateCheck.ts"
import type { RecipeName } from "../verification/Recipes.ts"
import type { RefusalReason } from "../verification/VerifySender.ts"

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

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class LateVerificationStore extends Context.Service<
  LateVerificationStore,
  {
    /** The first of these events that does not exist; null if all exist. */
    readonly missing: (events: ReadonlyArray<number>) => Returns<number | null>
    /** The events that exist. */
    readonly find: (events: ReadonlyArray<number>) => Returns<ReadonlyArray<LateEvent>>
    /** The events whose requests should be checked; with `undelivered`, also those that were verified late and not delivered. */
    readonly slice: (query: SliceQuery & { readonly undelivered: boolean }) => Returns<OriginalSlice>
    /**
     * Stores the findings in addition to the verdicts of intake. From then on, a successful finding is the verdict of
     * all events of the request, for good.
     */
    readonly record: (findings: ReadonlyArray<LateFinding>) => Returns<void>
    /**
     * Creates the deliveries of a source's late-verified requests among these, by the current filters, once for each
     * request, even with concurrent callers. Returns how many.
     */
    readonly deliver: (sourceId: number, requests: ReadonlyArray<number>) => Returns<number>
  }
>()("@data-cabinet/core/event/LateVerificationStore") {}
