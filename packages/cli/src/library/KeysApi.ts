/** The API keys and access tokens of a cabinet, with promises. */
import type { AccessToken, IssuedAccessToken } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys, type RotateKeyOptions } from "@data-cabinet/core/key/ApiKeys"
import type { Role } from "@data-cabinet/core/key/Role"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import type { Run } from "./RunEffect.ts"

export type { AccessToken, ApiKey, IssuedAccessToken, IssuedKey, Role, RotateKeyOptions }

/** Keys for readers of the API. */
export interface KeysApi {
  /** Issues a key, and returns it whole for the only time. */
  readonly create: (key: { readonly name: string; readonly expiresInSeconds?: number }) => Promise<IssuedKey>
  /** The keys by id, including revoked ones. Without `limit` all of them. */
  readonly list: (query?: {
    /** Only keys with a higher id. */
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<ApiKey>>
  /** Replaces a key by one of the same name and lifetime; the old one ends now, or after `keepOldSeconds`. Rejects with `no_such_key`. */
  readonly rotate: (id: number, options?: RotateKeyOptions) => Promise<IssuedKey>
  /** Revokes a key: its requests get 401 from then on. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<ApiKey>
}

/** Tokens for programs that manage the cabinet or upload to it over HTTP, within their role. */
export interface TokensApi {
  /** Issues a token, and returns it whole for the only time. */
  readonly create: (token: {
    readonly name: string
    readonly role: Role
    /** For the role `reader`: tables and views such as `sources.orders`. Without it, everything. */
    readonly only?: ReadonlyArray<string>
    readonly expiresInSeconds?: number
  }) => Promise<IssuedAccessToken>
  /** The tokens by id, including revoked ones. Without `limit` all of them. */
  readonly list: (query?: {
    /** Only tokens with a higher id. */
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<AccessToken>>
  /** Revokes a token: its requests get 401 from then on. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<AccessToken>
}

/** Builds the methods of `cabinet.keys`. */
export const keysApi = (run: Run): KeysApi => ({
  create: ({ name, expiresInSeconds = null }) => run(ApiKeys.use((keys) => keys.issue(name, expiresInSeconds))),
  list: ({ after = 0, limit } = {}) =>
    run(ApiKeys.use(({ list }) => (limit === undefined ? allItems(list, after) : list({ after, limit })))),
  rotate: (id, options) => run(ApiKeys.use((keys) => keys.rotate(id, options))),
  revoke: (id) => run(ApiKeys.use((keys) => keys.revoke(id))),
})

/** Builds the methods of `cabinet.tokens`. */
export const tokensApi = (run: Run): TokensApi => ({
  create: ({ name, role, only = null, expiresInSeconds = null }) =>
    run(AccessTokens.use((tokens) => tokens.issue({ name, role, only, expiresInSeconds }))),
  list: ({ after = 0, limit } = {}) =>
    run(AccessTokens.use(({ list }) => (limit === undefined ? allItems(list, after) : list({ after, limit })))),
  revoke: (id) => run(AccessTokens.use((tokens) => tokens.revoke(id))),
})
