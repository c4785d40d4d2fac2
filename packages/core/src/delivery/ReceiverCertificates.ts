/** When the certificates end with which receivers identified themselves: seen while something is sent, nothing is sent for it. */
import { Context } from "effect"

export const ReceiverCertificates = Context.Reference<{
  /** `endsAt`: milliseconds since 1970. Called for each new connection. */
  readonly saw: (origin: string, endsAt: number) => void
}>("@data-cabinet/core/delivery/ReceiverCertificates", { defaultValue: () => ({ saw: () => {} }) })
