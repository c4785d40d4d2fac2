/** The keys of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import type { ApiKey, IssuedKey } from "./ApiKey.ts"
import { checkHolderName, checkKeepOld, checkLifetime, KeyError } from "./KeyError.ts"

/** Stores API keys: only their fingerprints. Names are not checked here: `ApiKeys` has checked them. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Creates a key from random bytes; the result alone contains it. Null for a key that does not expire. */
    readonly issue: (name: string, expiresInSeconds: number | null) => Effect.Effect<IssuedKey, StoreUnavailable>
    /** By id, those that were revoked or have expired, too. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    /**
     * Issues a key with the name and the full lifetime of key `id`, which ends after `keepOldSeconds` or, with null,
     * now, in one step. None if the key does not exist or has ended.
     */
    readonly rotate: (
      id: number,
      keepOldSeconds: number | null,
    ) => Effect.Effect<Option.Option<IssuedKey>, StoreUnavailable>
    /** None if the key does not exist; a key that was revoked before keeps that time. */
    readonly revoke: (id: number) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/ApiKeyStore") {}

/** How long the replaced key stays valid. */
export interface RotateKeyOptions {
  /** For how many more seconds the old key is valid, a minute to 30 days; null (the default): it ends now. */
  readonly keepOldSeconds?: number | null
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** `expiresInSeconds`: null or left out for a key that does not expire. */
    readonly issue: (
      name: string,
      expiresInSeconds?: number | null,
    ) => Effect.Effect<IssuedKey, KeyError | StoreUnavailable>
    /** Replaces a key by a new one of the same name and lifetime. Refuses a key that was revoked or has expired. */
    readonly rotate: (id: number, options?: RotateKeyOptions) => Effect.Effect<IssuedKey, KeyError | StoreUnavailable>
    /** By id, those that were revoked or have expired, too. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<ApiKey, KeyError | StoreUnavailable>
  }
>()("@data-cabinet/core/key/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.map(ApiKeyStore, (store) =>
      ApiKeys.of({
        issue: (name, expiresInSeconds = null) =>
          checkHolderName(name, "A key").pipe(
            Effect.andThen(checkLifetime(expiresInSeconds)),
            Effect.andThen(store.issue(name, expiresInSeconds)),
          ),
        rotate: Effect.fnUntraced(function* (id, { keepOldSeconds = null } = {}) {
          yield* checkKeepOld(keepOldSeconds)
          const rotated = yield* store.rotate(id, keepOldSeconds)
          if (Option.isSome(rotated)) return rotated.value
          return yield* new KeyError({ code: "no_such_key", message: `Valid key ${id} does not exist.` })
        }),
        list: store.list,
        revoke: Effect.fnUntraced(function* (id) {
          const revoked = yield* store.revoke(id)
          if (Option.isSome(revoked)) return revoked.value
          return yield* new KeyError({ code: "no_such_key", message: `Key ${id} does not exist.` })
        }),
      }),
    ),
  )
}
