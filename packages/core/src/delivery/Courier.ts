/** Sends one signed request to an address that is checked before connecting. */
import { Context, type Effect } from "effect"
import type { Outcome } from "./Attempt.ts"
import type { BodyMethod } from "./BodySetting.ts"
import type { ClientIdentity } from "./ClientIdentity.ts"

/** The User-Agent of every outgoing request: deliveries and polls. */
export const USER_AGENT = "DataCabinet/1"

/** A signed request to send. */
export interface CourierRequest {
  readonly method: BodyMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Presented to a server that requires a client certificate. */
  readonly identity?: ClientIdentity
  /** Only if shorter than the usual limit. */
  readonly timeoutMillis?: number
  /** The exact bytes that were signed. */
  readonly body: Uint8Array
}

/**
 * Never fails and never exceeds its deadline: every error becomes an `Outcome`. It resolves the host once, and refuses
 * it if any of its addresses is not public. It connects only to checked addresses, and follows no redirect.
 */
export class Courier extends Context.Service<
  Courier,
  { readonly send: (request: CourierRequest) => Effect.Effect<Outcome> }
>()("@data-cabinet/core/delivery/Courier") {}

/** Learns when receivers' certificates expire, as observed while deliveries are sent, without separate requests. */
export const ReceiverCertificates = Context.Reference<{
  /** `endsAt`: milliseconds since 1970. Called for each new connection. */
  readonly saw: (origin: string, endsAt: number) => void
}>("@data-cabinet/core/delivery/ReceiverCertificates", { defaultValue: () => ({ saw: () => {} }) })
