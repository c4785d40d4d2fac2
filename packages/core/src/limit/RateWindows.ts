/**
 * Counts requests of the management API and attempts to sign in, per minute of the wall clock and across all processes.
 * (The read API and the intake have counters of their own.) One statement a request; not for hot paths.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { RateLimit } from "./RateLimiter.ts"

export class RateWindows extends Context.Service<
  RateWindows,
  {
    /** Counts one request of the subject, such as `token:7`, against this limit a minute. */
    readonly count: (subject: string, limit: number) => Effect.Effect<RateLimit, StoreUnavailable>
  }
>()("@data-cabinet/core/limit/RateWindows") {}
