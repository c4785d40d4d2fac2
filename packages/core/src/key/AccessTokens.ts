/** The access tokens of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import { Catalog, type ReadableTable } from "../row/Catalog.ts"
import type { AccessToken, IssuedAccessToken, NewAccessToken, TokenList, StorableAccessToken } from "./AccessToken.ts"
import { checkHolderName, checkLifetime, checkList, KeyError } from "./KeyError.ts"
import { parseRole, ROLES } from "./Role.ts"

/** Stores access tokens: only their fingerprints. Names are not checked here: `AccessTokens` has checked them. */
export class AccessTokenStore extends Context.Service<
  AccessTokenStore,
  {
    /** Creates a token from random bytes; the result alone contains it. */
    readonly issue: (token: StorableAccessToken) => Effect.Effect<IssuedAccessToken, StoreUnavailable>
    /** By id, those that were revoked or have expired, too. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<AccessToken>, StoreUnavailable>
    /** None if the token does not exist; a token that was revoked before keeps that time. */
    readonly revoke: (id: number) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
    /** Finds the token with this fingerprint, neither revoked nor expired, and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/AccessTokenStore") {}

/** A program without types may pass any word. */
const checkRole = (role: string): Effect.Effect<void, KeyError> =>
  parseRole(role) === null
    ? Effect.fail(new KeyError({ code: "bad_role", message: `A role must be one of ${ROLES.join(", ")}.` }))
    : Effect.void

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly issue: (token: NewAccessToken) => Effect.Effect<IssuedAccessToken, KeyError | StoreUnavailable>
    /** By id, those that were revoked or have expired, too. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<AccessToken>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<AccessToken, KeyError | StoreUnavailable>
    /** Finds the token with this fingerprint, neither revoked nor expired, and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/AccessTokens") {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.gen(function* () {
      const store = yield* AccessTokenStore
      const catalog = yield* Catalog
      const find = Effect.fnUntraced(function* (object: string) {
        const dot = object.indexOf(".")
        const found = yield* catalog.find(object.slice(0, Math.max(0, dot)), object.slice(dot + 1))
        if (Option.isSome(found)) return found.value
        const message = `No table or view is named ${JSON.stringify(object)}. A name includes its schema, such as sources.orders.`
        return yield* new KeyError({ code: "no_such_table", message })
      })
      return AccessTokens.of({
        issue: Effect.fnUntraced(function* ({ only = null, ...token }) {
          yield* checkHolderName(token.name, "A token")
          yield* checkRole(token.role)
          yield* checkLifetime(token.expiresInSeconds)
          yield* checkList(token.role, only)
          const listed = only === null ? null : listOf(yield* Effect.forEach(only, find))
          return yield* store.issue({ ...token, only: listed })
        }),
        list: store.list,
        revoke: Effect.fnUntraced(function* (id) {
          const revoked = yield* store.revoke(id)
          if (Option.isSome(revoked)) return revoked.value
          return yield* new KeyError({ code: "no_such_key", message: `Token ${id} does not exist.` })
        }),
        find: store.find,
      })
    }),
  )
}

const listOf = (tables: ReadonlyArray<ReadableTable>): TokenList => ({
  sources: [...new Set(tables.flatMap(({ detail: { source } }) => (source === null ? [] : [source.id])))],
  objects: [...new Set(tables.flatMap(({ detail: { source }, oid }) => (source === null ? [oid] : [])))],
})
