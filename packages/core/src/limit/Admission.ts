/**
 * Who may pass, and how often: the key of an API request together with its count, and the counts of intake. Windows are
 * minutes of the wall clock, exact over all processes; they begin anew after a database crash.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The state of one subject's window after this request. `retryAfter` is the seconds to the next minute. */
export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly retryAfter: number
}

export interface KeyAdmission extends Allowance {
  readonly keyId: number
}

export class Admission extends Context.Service<
  Admission,
  {
    /** Counts a request of the key with this fingerprint; null when no live key has it. */
    readonly key: (fingerprint: Uint8Array) => Effect.Effect<KeyAdmission | null, StoreUnavailable>
    /** Counts an intake request from one client address; IPv6 is counted by /64. */
    readonly intakeClient: (ip: string) => Effect.Effect<Allowance, StoreUnavailable>
    /** Counts an intake request to one source. */
    readonly intakeSource: (sourceId: number) => Effect.Effect<Allowance, StoreUnavailable>
  }
>()("@data-cabinet/core/limit/Admission") {}
