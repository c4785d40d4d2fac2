/** API keys in PostgreSQL: only the fingerprint is kept. */
import { randomBytes } from "node:crypto"
import { type ApiKey, KEY_PREFIX_LENGTH, keyFingerprint, writeKey } from "@data-cabinet/core/key/ApiKey"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { ApiKeyStore } from "@data-cabinet/core/key/ApiKeys"

interface KeyRow {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_request_at: string | null
}

/** The last request of the current minute is read from the rate window until it is written to the key. */
const COLUMNS = `k.id::text AS id, k.name, k.prefix, cabinet.rfc3339(k.created_at) AS created_at,
  cabinet.rfc3339(k.expires_at) AS expires_at, cabinet.rfc3339(k.revoked_at) AS revoked_at,
  cabinet.rfc3339(greatest(k.last_request_at,
    (SELECT w.last_at FROM cabinet.rate_window w WHERE w.subject = 'key:' || k.id))) AS last_request_at`

/** $1: the old key; $2: seconds that it stays valid, or null; $3, $4: the new key. The old one's row is locked against a second rotation. */
const ROTATE = `
  WITH old AS (
    SELECT o.* FROM cabinet.api_key o
    WHERE o.id = $1 AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > cabinet.now()) FOR UPDATE
  ), ended AS (
    UPDATE cabinet.api_key e SET
      revoked_at = CASE WHEN $2::float8 IS NULL THEN cabinet.now() END,
      expires_at = least(e.expires_at, cabinet.now() + make_interval(secs => $2::float8))
    FROM old WHERE e.id = old.id)
  INSERT INTO cabinet.api_key AS k (name, prefix, fingerprint, expires_at, origin)
  SELECT old.name, $3, $4, cabinet.now() + (old.expires_at - old.created_at), coalesce(old.origin, old.id) FROM old RETURNING ${COLUMNS}`

const toKey = (row: KeyRow): ApiKey => ({
  id: Number(row.id),
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastRequestAt: row.last_request_at,
})

export const layer = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return ApiKeyStore.of({
      issue: Effect.fnUntraced(function* (name, expiresInSeconds) {
        const key = writeKey(randomBytes(32))
        const [row] = yield* sql.unsafe<KeyRow>(
          `INSERT INTO cabinet.api_key AS k (name, prefix, fingerprint, expires_at)
           VALUES ($1, $2, $3, cabinet.now() + make_interval(secs => $4::float8)) RETURNING ${COLUMNS}`,
          [name, key.slice(0, KEY_PREFIX_LENGTH), keyFingerprint(key), expiresInSeconds],
        )
        return { ...toKey(row!), key }
      }, orUnavailable),
      rotate: Effect.fnUntraced(function* (id, keepOldSeconds) {
        const key = writeKey(randomBytes(32))
        const [row] = yield* sql.unsafe<KeyRow>(ROTATE, [
          id,
          keepOldSeconds,
          key.slice(0, KEY_PREFIX_LENGTH),
          keyFingerprint(key),
        ])
        return Option.map(Option.fromNullishOr(row), (issued) => ({ ...toKey(issued), key }))
      }, orUnavailable),
      list: ({ after, limit }) =>
        sql
          .unsafe<KeyRow>(
            `SELECT ${COLUMNS} FROM cabinet.api_key k WHERE k.id > $1::int8 ORDER BY k.id LIMIT $2::int4`,
            [after, limit],
          )
          .pipe(
            Effect.map((rows) => rows.map(toKey)),
            orUnavailable,
          ),
      revoke: (id) =>
        sql
          .unsafe<KeyRow>(
            `UPDATE cabinet.api_key k SET revoked_at = coalesce(k.revoked_at, cabinet.now()) WHERE k.id = $1 RETURNING ${COLUMNS}`,
            [id],
          )
          .pipe(
            Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toKey)),
            orUnavailable,
          ),
    })
  }),
)
