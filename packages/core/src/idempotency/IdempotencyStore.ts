/** The records of requests that were sent with an idempotency key. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** A request with an idempotency key. */
export interface KeyedRequest {
  /** The sender: equal keys of different senders are separate. */
  readonly actor: string
  /** Chosen by the client. */
  readonly key: string
  /** The request's method, address and body. Stored only as an HMAC. */
  readonly request: string
}

/** A new record, or the existing one. */
export type Claim =
  | { readonly is: "claimed"; readonly id: number }
  | {
      readonly is: "found"
      readonly sameRequest: boolean
      /** Null while the work is in progress, or if the process doing it died. */
      readonly response: string | null
      readonly ageSeconds: number
    }

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /** Begins a record, visible to all processes at once, unless there is one that began within `keepSeconds`. */
    readonly claim: (request: KeyedRequest, keepSeconds: number) => Effect.Effect<Claim, StoreUnavailable>
    /** False if the record no longer exists. Inside `transaction`, the change is part of it. */
    readonly complete: (id: number, response: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Removes an incomplete record. */
    readonly release: (id: number) => Effect.Effect<void, StoreUnavailable>
    /** Commits all of the stores' changes within `work`, or none. */
    readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreUnavailable, R>
  }
>()("@data-cabinet/core/idempotency/IdempotencyStore") {}
