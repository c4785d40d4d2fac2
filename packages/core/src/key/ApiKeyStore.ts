/** Stores API keys: only their fingerprints. Names are not checked here: `ApiKeys` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ApiKey, IssuedKey } from "./ApiKey.ts"

export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Creates a key from random bytes; the result alone contains it. Null for a key that does not expire. */
    readonly issue: (name: string, expiresInSeconds: number | null) => Effect.Effect<IssuedKey, StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
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
