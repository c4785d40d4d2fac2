/**
 * Sources in PostgreSQL: each has a table, a secret address, and a version that invalidates events parsed before a
 * change.
 */
import { SourceStore, type StoredSource, type StoredSourceChange } from "@data-cabinet/core/source/SourceStore"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, firstRow } from "../connection/StoreFailure.ts"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { createTable } from "../row/SourceTable.ts"
import { FORGET_REFUSED } from "../verification/PgRefusedSignatures.ts"
import { intakeLookup, newSecret, secretHash } from "./IntakeLookup.ts"
import { removeSource } from "./RemoveSource.ts"
import { type Columns, CURRENT_SECRETS, type CurrentSecrets, NO_SECRETS, settingColumns } from "./SettingColumns.ts"
import { SOURCE_COLUMNS, type SourceRow, toSource, toSourceWithSecret } from "./SourceRow.ts"

type Sql = PgClient.PgClient

const one = (sql: Sql, id: number) =>
  sql.unsafe<SourceRow>(`SELECT ${SOURCE_COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL`, [id])

/** Updates a source and returns the new row. */
const update = (sql: Sql, id: number, assignments: string, values: ReadonlyArray<unknown> = []) =>
  sql.unsafe<SourceRow>(
    `UPDATE cabinet.source s SET ${assignments} WHERE s.id = $1 AND s.deleted_at IS NULL RETURNING ${SOURCE_COLUMNS}`,
    [id, ...values],
  )

/** The columns that are set, null included. */
const given = (columns: Columns) => Object.entries(columns).filter(([, value]) => value !== undefined)

/** Creates a source and its table, within the caller's transaction. */
export const createSource = Effect.fnUntraced(function* (
  sql: Sql,
  cipher: SecretCipher,
  { tableName, ...settings }: StoredSource,
) {
  // Two sources with the same name created at the same time would pick the same table name, so creations take turns.
  yield* sql`SELECT FROM cabinet.job_lock WHERE name = 'source tables' FOR UPDATE`
  const tables = yield* sql<{ name: string }>`
    SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'sources'::regnamespace
    UNION SELECT table_name FROM cabinet.source WHERE table_name IS NOT NULL`
  const table = tableName(new Set(tables.map((row) => row.name)))
  const secret = newSecret()
  const columns = given({
    intake_secret: cipher.encrypt("intake secret", secret),
    secret_hash: secretHash(secret),
    table_name: table,
    ...settingColumns(cipher, settings, NO_SECRETS),
  })
  const [row] = yield* sql.unsafe<SourceRow>(
    `INSERT INTO cabinet.source AS s (${columns.map(([name]) => name).join(", ")})
     VALUES (${columns.map((_, index) => `$${index + 1}`).join(", ")}) RETURNING ${SOURCE_COLUMNS}`,
    columns.map(([, value]) => value),
  )
  yield* sql.unsafe(createTable(table))
  return toSourceWithSecret(cipher)(row!)
})

const change = Effect.fnUntraced(function* (sql: Sql, cipher: SecretCipher, id: number, changes: StoredSourceChange) {
  const [now] = yield* sql.unsafe<CurrentSecrets>(
    `SELECT ${CURRENT_SECRETS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL FOR UPDATE`,
    [id],
  )
  const columns = now === undefined ? [] : given(settingColumns(cipher, changes, now))
  if (columns.length === 0) return yield* one(sql, id)
  const changed = yield* update(
    sql,
    id,
    columns.map(([name], index) => `${name} = $${index + 2}`).join(", "),
    columns.map(([, value]) => value),
  )
  if (changes.verify !== undefined) yield* sql.unsafe(FORGET_REFUSED, [id])
  return changed
})

/** $4: how many seconds the current secret stays valid; null if it ends at once. */
const ROTATE = `intake_secret = $2, secret_hash = $3,
  old_secret_hash = CASE WHEN $4::float8 IS NOT NULL THEN s.secret_hash END,
  old_secret_until = cabinet.now() + make_interval(secs => $4)`

const rotateSecret = (sql: Sql, cipher: SecretCipher, id: number, keepOldSeconds: number | null) =>
  Effect.suspend(() => {
    const secret = newSecret()
    return update(sql, id, ROTATE, [cipher.encrypt("intake secret", secret), secretHash(secret), keepOldSeconds])
  })

/** $1: only those with a higher id, $2: how many. */
const PAGE = `
  SELECT ${SOURCE_COLUMNS} FROM cabinet.source s
  WHERE s.id > $1::int8 AND s.deleted_at IS NULL ORDER BY s.id LIMIT $2::int4`

export const layer = Layer.effect(
  SourceStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    const withSecret = toSourceWithSecret(cipher)
    return SourceStore.of({
      create: (source) => sql.withTransaction(createSource(sql, cipher, source)).pipe(orUnavailable),
      page: ({ after, limit }) =>
        sql.unsafe<SourceRow>(PAGE, [after, limit]).pipe(
          Effect.map((rows) => rows.map(toSource)),
          orUnavailable,
        ),
      get: (id) => firstRow(one(sql, id), toSource),
      reveal: (id) => firstRow(one(sql, id), withSecret),
      change: (id, changed) => firstRow(sql.withTransaction(change(sql, cipher, id, changed)), toSource),
      archive: (id) => firstRow(update(sql, id, "archived_at = coalesce(s.archived_at, cabinet.now())"), toSource),
      restore: (id) => firstRow(update(sql, id, "archived_at = NULL"), toSource),
      remove: (id, table) => removeSource(sql, id, table),
      rotateSecret: (id, keepOldSeconds) => firstRow(rotateSecret(sql, cipher, id, keepOldSeconds), withSecret),
      ...intakeLookup(yield* StatementClient, cipher, yield* Clock.Clock),
    })
  }),
)
