/** The API keys and upload tokens of a cabinet, with promises. */
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { IssuedUploadToken, UploadToken } from "@data-cabinet/core/key/UploadToken"
import { UploadTokens } from "@data-cabinet/core/key/UploadTokens"
import type { Run } from "./RunEffect.ts"

export type { ApiKey, IssuedKey, IssuedUploadToken, UploadToken }

/** Keys for readers of the API. */
export interface KeysApi {
  /** Issues a key; the only time that it is shown whole. */
  readonly create: (key: { readonly name: string }) => Promise<IssuedKey>
  /** All of them, including revoked ones. */
  readonly list: () => Promise<ReadonlyArray<ApiKey>>
  /** Requests with it get 401 from then on; the other keys stay valid. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<ApiKey>
}

/** Tokens for uploads over HTTP, `POST /upload/{source_id}`. */
export interface UploadTokensApi {
  /** Issues a token; the only time that it is shown whole. */
  readonly create: (operator: { readonly name: string }) => Promise<IssuedUploadToken>
  /** All of them, including revoked ones. */
  readonly list: () => Promise<ReadonlyArray<UploadToken>>
  /** Uploads with it get 401 from then on. Rejects with `no_such_key`. */
  readonly revoke: (id: number) => Promise<UploadToken>
}

export const keysApi = (run: Run): KeysApi => ({
  create: ({ name }) => run(ApiKeys.use((keys) => keys.issue(name))),
  list: () => run(ApiKeys.use((keys) => keys.list)),
  revoke: (id) => run(ApiKeys.use((keys) => keys.revoke(id))),
})

export const uploadTokensApi = (run: Run): UploadTokensApi => ({
  create: ({ name }) => run(UploadTokens.use((operators) => operators.issue(name))),
  list: () => run(UploadTokens.use((operators) => operators.list)),
  revoke: (id) => run(UploadTokens.use((operators) => operators.revoke(id))),
})
