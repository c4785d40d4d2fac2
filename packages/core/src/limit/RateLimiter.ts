/**
 * Limits the rate of requests: checks the key of an API request and counts it, and counts the requests of intake. Windows
 * are minutes of the wall clock, counted across all processes: a limit is never exceeded. They start over after a database
 * crash.
 */
import { Context, type Result, type Effect } from "effect"
import type { Deadline } from "../runtime/Deadline.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The state of one subject's window after this request. `retryAfter` is the number of seconds until the next minute. */
export interface RateLimit {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly retryAfter: number
}

/** The refusal of a request that is over its limit, of a key, a token or a session. */
export const overLimit = ({ limit, retryAfter }: RateLimit): string =>
  `${limit} requests a minute are allowed; the next minute begins in ${retryAfter} s.`

/** The rate of a key after a request. */
export interface KeyRateLimit extends RateLimit {
  readonly keyId: number
}

/** The rate of an intake request's client or source. */
export interface IntakeRateLimit extends RateLimit {
  readonly subject: "client" | "source"
}

export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Counts a request of the key with this fingerprint; null if no live key has it. Fails at the deadline. */
    readonly key: (
      fingerprint: Uint8Array,
      deadline: Deadline,
    ) => Promise<Result.Result<KeyRateLimit | null, StoreUnavailable>>
    /**
     * Counts an intake request for its client's address (IPv6 by /64; null if unknown) and then, if that is allowed,
     * for its source (null if not known yet). Returns the first that is not allowed, otherwise the last that was
     * counted; fails at the deadline. If the source has its own rate, only that rate counts.
     */
    readonly intake: (
      ip: string | null,
      sourceId: number | null,
      deadline: Deadline,
      rate?: number | null,
    ) => Promise<Result.Result<IntakeRateLimit, StoreUnavailable>>
  }
>()("@data-cabinet/core/limit/RateLimiter") {}

/**
 * Counts requests of the management API and attempts to sign in, per minute of the wall clock and across all processes.
 * (The read API and the intake have counters of their own.) One statement a request; not for hot paths.
 */
export class RateWindows extends Context.Service<
  RateWindows,
  {
    /** Counts one request of the subject, such as `token:7`, against this limit a minute. */
    readonly count: (subject: string, limit: number) => Effect.Effect<RateLimit, StoreUnavailable>
  }
>()("@data-cabinet/core/limit/RateWindows") {}
