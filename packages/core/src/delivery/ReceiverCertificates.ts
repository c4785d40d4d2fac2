/** Learns when receivers' certificates expire, as observed while deliveries are sent, without separate requests. */
import { Context } from "effect"

export const ReceiverCertificates = Context.Reference<{
  /** `endsAt`: milliseconds since 1970. Called for each new connection. */
  readonly saw: (origin: string, endsAt: number) => void
}>("@data-cabinet/core/delivery/ReceiverCertificates", { defaultValue: () => ({ saw: () => {} }) })
