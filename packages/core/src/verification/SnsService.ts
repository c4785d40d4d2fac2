/** Fetches the certificates that Amazon SNS signs with, and confirms subscriptions. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * Both take only addresses of SNS, which the caller has checked (`SnsMessage`). `StoreUnavailable` means that SNS cannot be
 * reached now: the request is not a forgery, and its sender retries.
 */
export class SnsService extends Context.Service<
  SnsService,
  {
    /**
     * The certificate at this address, in PEM; null if the address has no certificate. `from`: the IP address of the client
     * that named it, or null; clients that name many wrong addresses wait for one another, and delay no one else.
     */
    readonly certificate: (address: URL, from: string | null) => Effect.Effect<string | null, StoreUnavailable>
    readonly confirm: (address: URL) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/verification/SnsService") {}
