/**
 * Counts what is not the read API nor the intake, per minute of the wall clock and across all processes: requests of the
 * management API, attempts to sign in. One statement a request; not for hot paths.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { RateLimit } from "./RateLimiter.ts"

export class RateWindows extends Context.Service<
  RateWindows,
  {
    /** Counts one request of the subject, such as `token:7`, against this many a minute. */
    readonly count: (subject: string, limit: number) => Effect.Effect<RateLimit, StoreUnavailable>
  }
>()("@data-cabinet/core/limit/RateWindows") {}
