/** The operators of a cabinet: their tokens are issued once, listed without the secret, revoked at once. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { KeyError } from "./ApiKeys.ts"
import type { IssuedUploadToken, UploadToken } from "./UploadToken.ts"

export class UploadTokens extends Context.Service<
  UploadTokens,
  {
    readonly issue: (name: string) => Effect.Effect<IssuedUploadToken, KeyError | StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<UploadToken>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<UploadToken, KeyError | StoreUnavailable>
    /** Whose live token this is; the use is noted. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<UploadToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/UploadTokens") {}
