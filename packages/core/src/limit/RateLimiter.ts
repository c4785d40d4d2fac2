/**
 * Who may pass, and how often: the key of an API request together with its count, and the counts of intake. Windows are
 * minutes of the wall clock, counted over all processes: never more than a limit pass. They start over after a database crash.
 */
import { Context, type Effect, type Result } from "effect"
import type { Deadline } from "../runtime/Deadline.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The state of one subject's window after this request. `retryAfter` is the seconds to the next minute. */
export interface RateLimit {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly retryAfter: number
}

export interface KeyRateLimit extends RateLimit {
  readonly keyId: number
}

export interface IntakeRateLimit extends RateLimit {
  readonly whose: "client" | "source"
}

export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Counts a request of the key with this fingerprint; null when no live key has it. Waits for that so many milliseconds,
     * and then fails.
     */
    readonly key: (fingerprint: Uint8Array, millis: number) => Effect.Effect<KeyRateLimit | null, StoreUnavailable>
    /**
     * Counts an intake request for its client's address (IPv6 by /64; null: it has none) and then, if that may pass, for
     * its source (null: it is not known yet). Returns the first that may not pass, else the last that was counted; fails
     * at the deadline.
     */
    readonly intake: (
      ip: string | null,
      sourceId: number | null,
      deadline: Deadline,
    ) => Promise<Result.Result<IntakeRateLimit, StoreUnavailable>>
  }
>()("@data-cabinet/core/limit/RateLimiter") {}
