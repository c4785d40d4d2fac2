/** What a source needs of Amazon SNS: the certificates that it signs with, and the confirmation of a subscription. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * Both take addresses of SNS alone, which the caller has checked (`SnsMessage`). `StoreUnavailable` means that SNS cannot be
 * reached now: the request is not a forgery, and its sender retries.
 */
export class SnsService extends Context.Service<
  SnsService,
  {
    /** The certificate at this address, in PEM; null if there is none. */
    readonly certificate: (address: URL) => Effect.Effect<string | null, StoreUnavailable>
    readonly confirm: (address: URL) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/verification/SnsService") {}
