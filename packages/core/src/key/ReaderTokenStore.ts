/** Finds the access tokens that are sent to the read API, and counts their requests, as `RateLimiter` does for keys. */
import { Context, type Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { RateLimit } from "../limit/RateLimiter.ts"
import type { Deadline } from "../runtime/Deadline.ts"
import type { ReadScopeOrAll } from "./ReadScope.ts"
import type { Role } from "./Role.ts"

/** The rate of a token after a request, with its role and scope. */
export interface ReaderTokenLimit extends RateLimit {
  readonly role: Role
  readonly scope: ReadScopeOrAll
}

export class ReaderTokenStore extends Context.Service<
  ReaderTokenStore,
  {
    /**
     * Counts a request of the token with this fingerprint; null if no live token has it. Fails at the deadline. Its list is read
     * each time, with the names that objects have now.
     */
    readonly count: (
      fingerprint: Uint8Array,
      deadline: Deadline,
    ) => Promise<Result.Result<ReaderTokenLimit | null, StoreUnavailable>>
  }
>()("@data-cabinet/core/key/ReaderTokenStore") {}
