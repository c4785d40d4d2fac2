/** The keys of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ApiKey, IssuedKey } from "./ApiKey.ts"

export class KeyError extends Schema.TaggedError<KeyError>()("KeyError", {
  code: Schema.Literals(["no_such_key", "bad_name"]),
  message: Schema.String,
}) {}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** `expiresInSeconds`: null or left out for a key that does not expire. */
    readonly issue: (
      name: string,
      expiresInSeconds?: number | null,
    ) => Effect.Effect<IssuedKey, KeyError | StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<ApiKey, KeyError | StoreUnavailable>
  }
>()("@data-cabinet/core/key/ApiKeys") {}
