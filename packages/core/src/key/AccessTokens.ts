/** The access tokens of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { AccessToken, IssuedAccessToken } from "./AccessToken.ts"
import type { KeyError } from "./ApiKeys.ts"
import type { Role } from "./Role.ts"

export interface NewAccessToken {
  readonly name: string
  readonly role: Role
  /** Null for one that does not expire. */
  readonly expiresInSeconds: number | null
}

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly issue: (token: NewAccessToken) => Effect.Effect<IssuedAccessToken, KeyError | StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<AccessToken>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<AccessToken, KeyError | StoreUnavailable>
    /** Finds the token with this fingerprint, neither revoked nor expired, and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/AccessTokens") {}
