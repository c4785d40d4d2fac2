/** Stores access tokens: only their fingerprints. Names are not checked here: `AccessTokens` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { AccessToken, IssuedAccessToken, StorableAccessToken } from "./AccessToken.ts"

export class AccessTokenStore extends Context.Service<
  AccessTokenStore,
  {
    /** Creates a token from random bytes; the result alone contains it. */
    readonly issue: (token: StorableAccessToken) => Effect.Effect<IssuedAccessToken, StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<AccessToken>, StoreUnavailable>
    /** None if the token does not exist; a token that was revoked before keeps that time. */
    readonly revoke: (id: number) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
    /** Finds the token with this fingerprint, neither revoked nor expired, and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/AccessTokenStore") {}
