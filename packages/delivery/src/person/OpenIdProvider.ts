/**
 * Sign-in by OpenID Connect: the code flow with PKCE, state and nonce, and an id token whose signature, issuer and
 * audience are verified. All requests use the pinned client, with separately allowed networks, because a provider is
 * often in a private network. The library is loaded with the first sign-in.
 */
import { createHash } from "node:crypto"
import { IdentityProvider, type ProvidedPerson, ProviderFailure } from "@data-cabinet/core/person/IdentityProvider"
import { type Context, Effect, Layer } from "effect"
import type { Configuration, CustomFetchOptions } from "openid-client"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

export interface OpenIdOptions {
  /** As the provider writes it, with or without a slash at its end. */
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client. */
  readonly clientSecret: string | null
  readonly scope: string
  /** A claim, or a path of names with dots in between. */
  readonly roleClaim: string
}

const REQUEST_MILLIS = 10_000
const MAX_BYTES = 1_048_576
/** How long the provider's own description is used. */
const DISCOVERY_TTL = "1 hour"

const library = Effect.promise(() => import("openid-client"))

/** As `fetch`, for the library. */
const fetchBy =
  (client: PinnedClient["Service"], context: Context.Context<never>) =>
  async (url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> => {
    const sent = body == null ? undefined : Buffer.from(String(body))
    const response = await Effect.runPromiseWith(context)(
      client.send({
        method: method === "POST" ? "POST" : "GET",
        url: new URL(url),
        headers,
        ...(sent === undefined ? {} : { body: sent }),
        deadlineMillis: REQUEST_MILLIS,
        readBytes: MAX_BYTES,
        keepBytes: MAX_BYTES,
      }),
      signal === undefined ? {} : { signal },
    )
    const named = Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")] as [string, string]],
    )
    const isEmpty = response.body.length === 0
    return new Response(isEmpty ? null : Buffer.from(response.body), { status: response.status, headers: named })
  }

/** The text of an error and its causes, which never contains a token: the library keeps tokens out. */
const wordsOf = (error: unknown): string =>
  error instanceof Error
    ? error.message + (error.cause instanceof Error ? `: ${error.cause.message}` : "")
    : String(error)

const failure = (is: ProviderFailure["is"]) => (error: unknown) => new ProviderFailure({ is, detail: wordsOf(error) })

type Claims = Readonly<Record<string, unknown>>

/** The texts of a claim: the claim itself, the items of a list, or the value at a path of names. */
export const claimedRoles = (claims: Claims, name: string): ReadonlyArray<string> => {
  let value: unknown = Object.hasOwn(claims, name) ? claims[name] : claims
  if (value === claims) {
    for (const step of name.split(".")) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return []
      value = (value as Claims)[step]
    }
  }
  const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return all.filter((one) => typeof one === "string")
}

const nameIn = (claims: Claims, subject: string): string => {
  const said = [claims["name"], claims["preferred_username"]].find(
    (one) => typeof one === "string" && one.trim() !== "",
  )
  return Array.from(String(said ?? subject).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ""))
    .slice(0, 100)
    .join("")
}

export const layer = (options: OpenIdOptions) =>
  Layer.effect(
    IdentityProvider,
    Effect.gen(function* () {
      const { issuer, clientId, clientSecret, scope, roleClaim } = options
      const fetchPinned = fetchBy(yield* PinnedClient, yield* Effect.context())
      const server = new URL(issuer)

      const discover = Effect.gen(function* () {
        const openid = yield* library
        const insecure = server.protocol === "http:" ? [openid.allowInsecureRequests] : []
        const auth = clientSecret === null ? openid.None() : undefined
        return yield* Effect.tryPromise({
          try: () =>
            openid.discovery(server, clientId, clientSecret ?? undefined, auth, {
              [openid.customFetch]: fetchPinned,
              execute: [...insecure, openid.enableNonRepudiationChecks],
            }),
          catch: failure("unreachable"),
        })
      })
      const [cached, forget] = yield* Effect.cachedInvalidateWithTTL(discover, DISCOVERY_TTL)
      const configuration: Effect.Effect<Configuration, ProviderFailure> = Effect.tapError(cached, () => forget)

      return {
        host: server.host,
        begin: Effect.fnUntraced(function* (redirectUri: string) {
          const openid = yield* library
          const config = yield* configuration
          const verifier = openid.randomPKCECodeVerifier()
          const attempt = { state: openid.randomState(), nonce: openid.randomNonce(), verifier }
          const url = openid.buildAuthorizationUrl(config, {
            redirect_uri: redirectUri,
            scope,
            state: attempt.state,
            nonce: attempt.nonce,
            code_challenge: createHash("sha256").update(verifier).digest("base64url"),
            code_challenge_method: "S256",
          })
          return { url: url.href, attempt }
        }),
        complete: Effect.fnUntraced(function* (callback: URL, { state, nonce, verifier }) {
          const openid = yield* library
          const config = yield* configuration
          return yield* Effect.tryPromise({
            try: async (): Promise<ProvidedPerson> => {
              const tokens = await openid.authorizationCodeGrant(config, callback, {
                pkceCodeVerifier: verifier,
                expectedState: state,
                expectedNonce: nonce,
                idTokenExpected: true,
              })
              const idToken = tokens.claims()!
              // Many providers give name and roles only there, not in the id token; the subject has to be the same.
              const more =
                config.serverMetadata().userinfo_endpoint === undefined
                  ? {}
                  : await openid.fetchUserInfo(config, tokens.access_token, idToken.sub)
              const claims: Claims = { ...more, ...idToken }
              return {
                issuer: idToken.iss,
                subject: idToken.sub,
                name: nameIn(claims, idToken.sub),
                roles: claimedRoles(claims, roleClaim),
              }
            },
            catch: failure("refused"),
          })
        }),
      }
    }),
  )
