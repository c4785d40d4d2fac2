/** The upload tokens of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
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
    /** Finds the live token with this fingerprint and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<UploadToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/UploadTokens") {}
