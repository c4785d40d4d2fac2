/** Access tokens in PostgreSQL: only the fingerprint is kept. */
import { randomBytes } from "node:crypto"
import { type AccessToken, TOKEN_PREFIX_LENGTH, tokenFingerprint, writeToken } from "@data-cabinet/core/key/AccessToken"
import type { Role } from "@data-cabinet/core/key/Role"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { READER_SUBJECT } from "../limit/CountStatement.ts"
import { listedObjects } from "./ReaderTokenStatement.ts"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { AccessTokenStore } from "@data-cabinet/core/key/AccessTokens"

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly only: string | null
  readonly prefix: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The objects that a token lists, by their current names. */
const NAMES = `(SELECT coalesce(json_agg(o.schema || '.' || o.name ORDER BY o.schema, o.name), '[]')::text FROM (${listedObjects("t")}) o)`

/** The last request of the current minute is read from the rate window until it is written to the token. */
const COLUMNS = `t.id::text AS id, t.name, t.role, CASE WHEN t.only_sources IS NOT NULL THEN ${NAMES} END AS only, t.prefix,
  cabinet.rfc3339(t.created_at) AS created_at,
  cabinet.rfc3339(t.expires_at) AS expires_at, cabinet.rfc3339(t.revoked_at) AS revoked_at,
  cabinet.rfc3339(greatest(t.last_used_at,
    (SELECT w.last_at FROM cabinet.rate_window w WHERE w.subject = '${READER_SUBJECT}' || t.id))) AS last_used_at`

/** $4: seconds from now, or null; $6, $7: its list, or null. */
const ISSUE = `
  INSERT INTO cabinet.access_token AS t (name, prefix, fingerprint, expires_at, role, only_sources, only_objects, only_in)
  VALUES ($1, $2, $3, cabinet.now() + make_interval(secs => $4::float8), $5, $6::int8[], $7::int8[]::oid[],
    CASE WHEN $6::int8[] IS NOT NULL THEN cabinet.place() END) RETURNING ${COLUMNS}`

const REVOKE = `
  UPDATE cabinet.access_token t SET revoked_at = coalesce(t.revoked_at, cabinet.now()) WHERE t.id = $1
  RETURNING ${COLUMNS}`

/** The use is written at most once a minute: frequent requests do not rewrite the token each time. */
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
  only: row.only === null ? null : JSON.parse(row.only),
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
      issue: Effect.fnUntraced(function* ({ name, role, expiresInSeconds, only }) {
        const token = writeToken(randomBytes(32), only !== null)
        const [row] = yield* sql.unsafe<TokenRow>(ISSUE, [
          name,
          token.slice(0, TOKEN_PREFIX_LENGTH),
          tokenFingerprint(token),
          expiresInSeconds,
          role,
          only === null ? null : int8Array(only.sources),
          only === null ? null : int8Array(only.objects),
        ])
        return { ...toToken(row!), token }
      }, orUnavailable),
      list: ({ after, limit }) =>
        sql
          .unsafe<TokenRow>(
            `SELECT ${COLUMNS} FROM cabinet.access_token t WHERE t.id > $1::int8 ORDER BY t.id LIMIT $2::int4`,
            [after, limit],
          )
          .pipe(
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
