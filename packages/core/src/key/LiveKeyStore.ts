/** Looks keys and tokens of requests in progress up once more, without counting a request. */
import { Context, type Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Deadline } from "../runtime/Deadline.ts"
import type { ReadScopeOrAll } from "./ReadScope.ts"
import type { Role } from "./Role.ts"

/** What a valid token may do and read. */
export interface LiveToken {
  readonly role: Role
  readonly scope: ReadScopeOrAll
}

/** Both fail at the deadline. */
export class LiveKeyStore extends Context.Service<
  LiveKeyStore,
  {
    /** Whether a live key has this fingerprint. */
    readonly key: (fingerprint: Uint8Array, deadline: Deadline) => Promise<Result.Result<boolean, StoreUnavailable>>
    /** Null if no live token has it. Its list is read each time, with the names that objects have now. */
    readonly token: (
      fingerprint: Uint8Array,
      deadline: Deadline,
    ) => Promise<Result.Result<LiveToken | null, StoreUnavailable>>
  }
>()("@data-cabinet/core/key/LiveKeyStore") {}
