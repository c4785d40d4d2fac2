/** Asks the provider of a form's widget whether a token proves a person. */
import { Context, type Effect } from "effect"
import type { FormProof } from "./FormProof.ts"

/** How long a sender waits for the provider, in milliseconds. */
export const PROVIDER_MILLIS = 3_000

/** The longest token that is passed on, in characters. */
export const MAX_TOKEN_LENGTH = 8_192

/** A provider's token to be checked. */
export interface ProviderToken extends FormProof {
  readonly kind: "turnstile" | "hcaptcha"
  readonly secret: string
  readonly token: string
}

/**
 * `unchecked`: the provider did not answer in time, or refused the question because of the setting (a wrong secret key): nothing
 * is known about the sender.
 */
export type ProviderAnswer = "valid" | "wrong" | "unchecked"

export class ProofProviders extends Context.Service<
  ProofProviders,
  {
    /** `millis`: how long to wait at most. */
    readonly check: (token: ProviderToken, millis: number) => Effect.Effect<ProviderAnswer>
  }
>()("@data-cabinet/core/proof/ProofProviders") {}
