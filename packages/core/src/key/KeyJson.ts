/** Keys and access tokens as JSON. Only the code that issues them adds the complete value. */
import type { AccessToken } from "./AccessToken.ts"
import type { ApiKey } from "./ApiKey.ts"

export const keyJson = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  last_request_at: key.lastRequestAt,
})

/** An access token as listed, as JSON. */
export const accessTokenJson = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  role: token.role,
  only: token.only,
  prefix: token.prefix,
  created_at: token.createdAt,
  expires_at: token.expiresAt,
  revoked_at: token.revokedAt,
  last_used_at: token.lastUsedAt,
})
