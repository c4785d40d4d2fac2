/**
 * An external identity provider (OpenID Connect): where it sends a browser to sign in, and which person it returns.
 * Absent unless the server's composition provides one.
 */
import { Context, Data, type Effect } from "effect"

/** State that only the browser that began the sign-in may return, kept there in a sealed cookie. */
export interface SignInAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Issuer and subject form the identity. An e-mail address does not, because it may change hands. */
export interface ProvidedPerson {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  /** The values of the claim that holds roles; empty without one. */
  readonly roles: ReadonlyArray<string>
}

/** `unreachable`: nobody can sign in at the moment; `refused`: this attempt failed. The detail is for the log. */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly is: "unreachable" | "refused"
  readonly detail: string
}> {}

/** A configured identity provider. */
export interface Provider {
  /** The issuer's host, by which people know it. */
  readonly host: string
  readonly begin: (
    redirectUri: string,
  ) => Effect.Effect<{ readonly url: string; readonly attempt: SignInAttempt }, ProviderFailure>
  /** `callback` is the redirect URI with the returned query. */
  readonly complete: (callback: URL, attempt: SignInAttempt) => Effect.Effect<ProvidedPerson, ProviderFailure>
}

export const IdentityProvider = Context.Reference<Provider | null>("@data-cabinet/core/person/IdentityProvider", {
  defaultValue: () => null,
})
