/** Keys and upload tokens as JSON. Only the code that issues them adds the complete value. */
import type { ApiKey } from "./ApiKey.ts"
import type { UploadToken } from "./UploadToken.ts"

export const keyJson = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  created_at: key.createdAt,
  revoked_at: key.revokedAt,
  last_request_at: key.lastRequestAt,
})

export const uploadTokenJson = (token: UploadToken) => ({
  id: token.id,
  name: token.name,
  prefix: token.prefix,
  created_at: token.createdAt,
  revoked_at: token.revokedAt,
  last_used_at: token.lastUsedAt,
})
