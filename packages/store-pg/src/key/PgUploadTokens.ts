/** Upload tokens in PostgreSQL: only the fingerprint is kept. */
import { randomBytes } from "node:crypto"
import { KeyError } from "@data-cabinet/core/key/ApiKeys"
import { type UploadToken, TOKEN_PREFIX_LENGTH, tokenFingerprint, writeToken } from "@data-cabinet/core/key/UploadToken"
import { UploadTokens } from "@data-cabinet/core/key/UploadTokens"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

interface OperatorRow {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

const COLUMNS = `o.id::text AS id, o.name, o.prefix, cabinet.rfc3339(o.created_at) AS created_at,
  cabinet.rfc3339(o.revoked_at) AS revoked_at, cabinet.rfc3339(o.last_used_at) AS last_used_at`

const toOperator = (row: OperatorRow): UploadToken => ({
  id: Number(row.id),
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
})

export const layer = Layer.effect(
  UploadTokens,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return UploadTokens.of({
      issue: Effect.fnUntraced(function* (name) {
        if (name.trim() === "" || name.length > 200) {
          return yield* new KeyError({ code: "bad_name", message: "An operator needs a name of 1 to 200 characters." })
        }
        const token = writeToken(randomBytes(32))
        const [row] = yield* sql.unsafe<OperatorRow>(
          `INSERT INTO cabinet.upload_token AS o (name, prefix, fingerprint) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
          [name, token.slice(0, TOKEN_PREFIX_LENGTH), tokenFingerprint(token)],
        )
        return { ...toOperator(row!), token }
      }, orUnavailable),
      list: sql.unsafe<OperatorRow>(`SELECT ${COLUMNS} FROM cabinet.upload_token o ORDER BY o.id`).pipe(
        Effect.map((rows) => rows.map(toOperator)),
        orUnavailable,
      ),
      revoke: Effect.fnUntraced(function* (id) {
        const [row] = yield* sql.unsafe<OperatorRow>(
          `UPDATE cabinet.upload_token o SET revoked_at = coalesce(o.revoked_at, cabinet.now()) WHERE o.id = $1 RETURNING ${COLUMNS}`,
          [id],
        )
        if (row === undefined)
          return yield* new KeyError({ code: "no_such_key", message: `There is no operator ${id}.` })
        return toOperator(row)
      }, orUnavailable),
      find: (fingerprint) =>
        sql
          .unsafe<OperatorRow>(
            `UPDATE cabinet.upload_token o SET last_used_at = cabinet.now() WHERE o.fingerprint = $1 AND o.revoked_at IS NULL RETURNING ${COLUMNS}`,
            [fingerprint],
          )
          .pipe(
            Effect.map(([row]) => Option.map(Option.fromNullishOr(row), toOperator)),
            orUnavailable,
          ),
    })
  }),
)
