/** Access tokens in PostgreSQL: only the fingerprint is kept. */
import { randomBytes } from "node:crypto"
import { type AccessToken, TOKEN_PREFIX_LENGTH, tokenFingerprint, writeToken } from "@data-cabinet/core/key/AccessToken"
import { AccessTokenStore } from "@data-cabinet/core/key/AccessTokenStore"
import type { Role } from "@data-cabinet/core/key/Role"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly prefix: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

const COLUMNS = `t.id::text AS id, t.name, t.role, t.prefix, cabinet.rfc3339(t.created_at) AS created_at,
  cabinet.rfc3339(t.expires_at) AS expires_at, cabinet.rfc3339(t.revoked_at) AS revoked_at,
  cabinet.rfc3339(t.last_used_at) AS last_used_at`

/** $4: seconds from now, or null. */
const ISSUE = `
  INSERT INTO cabinet.access_token AS t (name, prefix, fingerprint, expires_at, role)
  VALUES ($1, $2, $3, cabinet.now() + make_interval(secs => $4::float8), $5) RETURNING ${COLUMNS}`

const REVOKE = `
  UPDATE cabinet.access_token t SET revoked_at = coalesce(t.revoked_at, cabinet.now()) WHERE t.id = $1
  RETURNING ${COLUMNS}`

/** The use is written at most once a minute: a program that asks often does not rewrite its token each time. */
const FIND = `
  WITH found AS (
    SELECT t.* FROM cabinet.access_token t, (SELECT cabinet.now() AS at) n
    WHERE t.fingerprint = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > n.at)
  ), used AS (
    UPDATE cabinet.access_token u SET last_used_at = cabinet.now() FROM found f
    WHERE u.id = f.id AND (u.last_used_at IS NULL OR u.last_used_at < cabinet.now() - interval '1 minute'))
  SELECT ${COLUMNS} FROM found t`

const toToken = (row: TokenRow): AccessToken => ({
  id: Number(row.id),
  name: row.name,
  role: row.role,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
})

export const layer = Layer.effect(
  AccessTokenStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return AccessTokenStore.of({
      issue: Effect.fnUntraced(function* ({ name, role, expiresInSeconds }) {
        const token = writeToken(randomBytes(32))
        const [row] = yield* sql.unsafe<TokenRow>(ISSUE, [
          name,
          token.slice(0, TOKEN_PREFIX_LENGTH),
          tokenFingerprint(token),
          expiresInSeconds,
          role,
        ])
        return { ...toToken(row!), token }
      }, orUnavailable),
      list: sql.unsafe<TokenRow>(`SELECT ${COLUMNS} FROM cabinet.access_token t ORDER BY t.id`).pipe(
        Effect.map((rows) => rows.map(toToken)),
        orUnavailable,
      ),
      revoke: (id) =>
        sql.unsafe<TokenRow>(REVOKE, [id]).pipe(
          Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toToken)),
          orUnavailable,
        ),
      find: (fingerprint) =>
        sql.unsafe<TokenRow>(FIND, [fingerprint]).pipe(
          Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toToken)),
          orUnavailable,
        ),
    })
  }),
)
