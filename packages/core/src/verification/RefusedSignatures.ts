/** Counts requests that were refused because their sender could not be verified, for the operator. */
import { Context } from "effect"
import type { RefusalReason } from "./VerifySender.ts"

export class RefusedSignatures extends Context.Service<
  RefusedSignatures,
  {
    /** Returns at once; the count is stored soon. */
    readonly count: (sourceId: number, reason: RefusalReason) => void
  }
>()("@data-cabinet/core/verification/RefusedSignatures") {}
