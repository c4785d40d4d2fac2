/** Sends one signed request to an address that is checked on the way. */
import { Context, type Effect } from "effect"
import type { Outcome } from "./Attempt.ts"

/** What every request says that leaves this program: of deliveries and of polls. */
export const USER_AGENT = "DataCabinet/1"

export interface CourierRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The exact bytes that were signed. */
  readonly body: Uint8Array
}

/**
 * Never fails and never outlasts its deadline: whatever goes wrong is an `Outcome`. It resolves the host once, refuses
 * it if any of its addresses is not public, connects to nothing but what it checked, and follows no redirect.
 */
export class Courier extends Context.Service<
  Courier,
  { readonly send: (request: CourierRequest) => Effect.Effect<Outcome> }
>()("@data-cabinet/core/delivery/Courier") {}
