/**
 * Sources in PostgreSQL: each has a table, a secret address, and a version that invalidates what was parsed before a
 * change.
 */
import { hash, randomBytes } from "node:crypto"
import { type FilteredAddress, filteredAddress } from "@data-cabinet/core/delivery/FilteredDeliveries"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { LimitedCount } from "@data-cabinet/core/limit/LimitedRequests"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import type {
  IntakeSource,
  KeptSettings,
  Source,
  SourceEncoding,
  SourceWithSecret,
} from "@data-cabinet/core/source/Source"
import {
  type SourceRemoval,
  SourceStore,
  type StoredSource,
  type StoredSourceChange,
} from "@data-cabinet/core/source/SourceStore"
import type { ChallengeProvider, IntakeChallenge } from "@data-cabinet/core/verification/Challenge"
import type { IntakeVerification, StoredVerification, Verification } from "@data-cabinet/core/verification/Verification"
import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Layer, Option, Result } from "effect"
import type { SqlError } from "effect/sql"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, sqlState } from "../connection/StoreFailure.ts"
import { type SecretCipher, SecretCiphers, type SecretPurpose } from "../key/SecretCipher.ts"
import { LIMITED_OF_SOURCE } from "../limit/PgLimitedRequests.ts"
import { createTable, SOURCES_SCHEMA } from "../row/SourceTable.ts"
import { FORGET_REFUSED } from "../verification/PgRefusedSignatures.ts"

interface SourceRow {
  readonly id: string
  readonly name: string
  readonly archived: boolean
  readonly table_name: string | null
  readonly created_at: string
  readonly encoding: SourceEncoding | null
  readonly thanks_url: string | null
  readonly intake_secret: string
  readonly version: number
  readonly keep_headers: ReadonlyArray<string>
  readonly header_fields: ReadonlyArray<string>
  readonly keep_query: boolean
  /** A JSON text: not every pool reads JSON by itself. */
  readonly verify: string | null
  readonly keeps_old_secret: boolean
  readonly challenge: ChallengeProvider | null
  readonly rate: number | null
  readonly old_secret_until: string | null
  readonly limited: string | null
}

/** As `cabinet.source.verify` has it. */
type VerifySetting = Omit<Verification, "keepsOldSecret">

interface IntakeRow extends SourceRow {
  readonly verify_secret: string | null
  readonly verify_old_secret: string | null
  readonly challenge_secret: string | null
  readonly filtered: string | null
}

const COLUMNS = `s.id::text AS id, s.name, s.archived_at IS NOT NULL AS archived, s.table_name,
  cabinet.rfc3339(s.created_at) AS created_at, s.encoding, s.thanks_url, s.intake_secret, s.version,
  s.keep_headers, s.header_fields, s.keep_query, s.verify::text AS verify, s.verify_old_secret IS NOT NULL AS keeps_old_secret, s.challenge,
  s.rate,
  CASE WHEN s.old_secret_until > cabinet.now() THEN cabinet.rfc3339(s.old_secret_until) END AS old_secret_until,
  ${LIMITED_OF_SOURCE} AS limited`

/** What intake looks up besides: an index has the few addresses with a filter. */
const INTAKE_COLUMNS = `${COLUMNS}, s.verify_secret, s.verify_old_secret, s.challenge_secret, (
  SELECT json_agg(json_build_object('id', a.id, 'filters', a.filters) ORDER BY a.id)::text FROM cabinet.address a
  WHERE a.filters IS NOT NULL AND a.removed_at IS NULL AND (a.every_source OR EXISTS (
    SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = s.id))) AS filtered`

const toSource = (row: SourceRow): Source => ({
  id: Number(row.id),
  name: row.name,
  archived: row.archived,
  table: row.table_name === null ? null : { schema: SOURCES_SCHEMA, name: row.table_name },
  createdAt: row.created_at,
  encoding: row.encoding,
  thanksUrl: row.thanks_url,
  keepHeaders: row.keep_headers,
  headerFields: row.header_fields,
  keepQuery: row.keep_query,
  verify: row.verify === null ? null : { ...settingOf(row.verify), keepsOldSecret: row.keeps_old_secret },
  challenge: row.challenge === null ? null : { provider: row.challenge },
  rate: row.rate,
  oldSecretUntil: row.old_secret_until,
  limited: row.limited === null ? null : (JSON.parse(row.limited) as LimitedCount),
})

/** What was stored before there were modes has none. */
const settingOf = (verify: string): VerifySetting => {
  const { mode = "reject", ...setting } = JSON.parse(verify) as Omit<VerifySetting, "mode"> & Partial<VerifySetting>
  return { ...setting, mode }
}

const toSourceWithSecret = (row: SourceRow): SourceWithSecret => ({ ...toSource(row), intakeSecret: row.intake_secret })

const toIntakeSource =
  (cipher: SecretCipher) =>
  (row: IntakeRow): IntakeSource => ({
    id: Number(row.id),
    version: row.version,
    encoding: row.encoding,
    thanksUrl: row.thanks_url,
    kept: toKept(row),
    verification: toVerification(row, cipher),
    ...(row.rate === null ? {} : { rate: row.rate }),
    ...(row.challenge === null ? {} : { challenge: toChallenge(row.challenge, row.challenge_secret, cipher) }),
    ...(row.filtered === null ? {} : { filtered: toFiltered(row.filtered) }),
  })

const toVerification = (row: IntakeRow, cipher: SecretCipher): IntakeVerification | null => {
  const { verify, verify_secret: secret, verify_old_secret: old } = row
  if (verify === null) return null
  const stored = [secret, old].filter((one) => one !== null)
  const secrets = Result.all(stored.map((one) => cipher.decrypt("verification secret", one)))
  return { ...settingOf(verify), secrets: Result.getOrElse(secrets, () => null) }
}

const toChallenge = (provider: ChallengeProvider, secret: string | null, cipher: SecretCipher): IntakeChallenge => ({
  provider,
  secret: secret === null ? "" : Result.getOrElse(cipher.decrypt("challenge secret", secret), () => null),
})

type StoredFilters = ReadonlyArray<{ readonly id: number; readonly filters: FieldFilters }>

/** The one that was read last: many sources have the same addresses, and are cached. */
let last: { readonly json: string; readonly filtered: ReadonlyArray<FilteredAddress> } = { json: "[]", filtered: [] }

const toFiltered = (json: string): ReadonlyArray<FilteredAddress> => {
  if (json !== last.json) {
    const stored = JSON.parse(json) as StoredFilters
    last = { json, filtered: stored.map(({ id, filters }) => filteredAddress(id, filters)) }
  }
  return last.filtered
}

/** Null where nothing is set, so that intake has one thing to look at. */
const toKept = ({ keep_headers: headers, header_fields: fields, keep_query: query }: SourceRow): KeptSettings | null =>
  headers.length > 0 || fields.length > 0 || query ? { headers, fields, query } : null

const newSecret = (): string => randomBytes(24).toString("base64url")
const secretHash = (secret: string): string => hash("sha256", secret)

/** Maximum number of cached secrets. Accept refuses an outdated version, so the cache may be stale without harm. */
const MAX_CACHED = 10_000

/** How long dropping a table waits for its lock, in seconds. */
const LOCK_TIMEOUT_SECONDS = 3

/** Rolls a removal back, which is then refused. */
class NotRemoved extends Data.TaggedError("NotRemoved")<{ readonly removal: SourceRemoval }> {}

/** Why a table could not be dropped, if the reason is neither our fault nor the caller's. */
const notDropped = (table: string, error: SqlError.SqlError): NotRemoved | SqlError.SqlError => {
  switch (sqlState(error)) {
    case "2BP01":
      return new NotRemoved({ removal: { is: "depended_on", table } })
    case "55P03":
      return new NotRemoved({ removal: { is: "busy", table, seconds: LOCK_TIMEOUT_SECONDS } })
    default:
      return error
  }
}

type Sql = PgClient.PgClient

const one = (sql: Sql, id: number) =>
  sql.unsafe<SourceRow>(`SELECT ${COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL`, [id])

/** Changes one row, and returns it as it is afterwards. */
const update = (sql: Sql, id: number, assignments: string, values: ReadonlyArray<unknown> = []) =>
  sql.unsafe<SourceRow>(
    `UPDATE cabinet.source s SET ${assignments} WHERE s.id = $1 AND s.deleted_at IS NULL RETURNING ${COLUMNS}`,
    [id, ...values],
  )

const first = <Row, A>(rows: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>, as: (row: Row) => A) =>
  rows.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullishOr(row), as)),
    orUnavailable,
  )

/** The source with its table. */
const create = Effect.fnUntraced(function* (sql: Sql, cipher: SecretCipher, source: StoredSource) {
  const secret = newSecret()
  // Two sources of one name created at once would choose the same table name: they are serialized here.
  yield* sql`SELECT FROM cabinet.job_lock WHERE name = 'source tables' FOR UPDATE`
  const tables = yield* sql<{ name: string }>`
    SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'sources'::regnamespace
    UNION SELECT table_name FROM cabinet.source WHERE table_name IS NOT NULL`
  const table = source.tableName(new Set(tables.map((row) => row.name)))
  const [row] = yield* sql.unsafe<SourceRow>(
    `INSERT INTO cabinet.source AS s (
       name, intake_secret, secret_hash, encoding, thanks_url, table_name, keep_headers, header_fields, keep_query,
       verify, verify_secret, challenge, challenge_secret, rate)
     VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6, $7::text[], $8::text[], $9, $10::json, $11, $12, $13, $14) RETURNING ${COLUMNS}`,
    [
      source.name,
      secret,
      secretHash(secret),
      source.encoding,
      source.thanksUrl,
      table,
      source.keepHeaders,
      source.headerFields,
      source.keepQuery,
      source.verify === null ? null : settingJson(source.verify),
      encrypted(cipher, "verification secret", source.verify?.secret),
      source.challenge?.provider ?? null,
      encrypted(cipher, "challenge secret", source.challenge?.secret),
      source.rate,
    ],
  )
  yield* sql.unsafe(createTable(table))
  return toSourceWithSecret(row!)
})

const settingJson = ({ recipe, mode, hmac }: StoredVerification): string =>
  JSON.stringify({ recipe, mode, hmac } satisfies VerifySetting)

const encrypted = (cipher: SecretCipher, purpose: SecretPurpose, secret: string | undefined): string | null =>
  secret === undefined ? null : cipher.encrypt(purpose, secret)

/** $10: whether it changes, $11: the setting, $12: a new secret, $13: whether the old one is kept. Secrets are those of one recipe. */
const VERIFY_CHANGE = `
     verify = CASE WHEN $10 THEN $11::json ELSE s.verify END,
     verify_secret = CASE
       WHEN NOT $10 THEN s.verify_secret
       WHEN $12::text IS NOT NULL OR s.verify->>'recipe' IS DISTINCT FROM $11::json->>'recipe' THEN $12
       ELSE s.verify_secret END,
     verify_old_secret = CASE
       WHEN NOT $10 THEN s.verify_old_secret
       WHEN $13 AND s.verify->>'recipe' = $11::json->>'recipe' THEN
         CASE WHEN $12 IS NULL THEN s.verify_old_secret ELSE s.verify_secret END END`

/** $14: whether it changes, $15: the provider, $16: a new secret. The secret is that of one provider. */
const CHALLENGE_CHANGE = `
     challenge = CASE WHEN $14 THEN $15 ELSE s.challenge END,
     challenge_secret = CASE
       WHEN NOT $14 THEN s.challenge_secret
       WHEN $16::text IS NOT NULL OR s.challenge IS DISTINCT FROM $15 THEN $16
       ELSE s.challenge_secret END`

/** A rotation that is sent once more, as after a lost response, rotates nothing: the secret is the one that there is. */
const unlessRepeated = Effect.fnUntraced(function* (
  sql: Sql,
  cipher: SecretCipher,
  id: number,
  verify: StoredVerification,
) {
  if (verify.secret === undefined || !verify.keepOldSecret) return verify
  const [row] = yield* sql<{ readonly secret: string | null }>`
    SELECT verify_secret AS secret FROM cabinet.source WHERE id = ${id} AND deleted_at IS NULL FOR UPDATE`
  if (row === undefined || row.secret === null) return verify
  const current = cipher.decrypt("verification secret", row.secret)
  return Result.isSuccess(current) && current.success === verify.secret ? { ...verify, secret: undefined } : verify
})

const change = Effect.fnUntraced(function* (sql: Sql, cipher: SecretCipher, id: number, changes: StoredSourceChange) {
  const { name, encoding, thanksUrl, keepHeaders, headerFields, keepQuery, challenge, rate } = changes
  const verify = changes.verify == null ? changes.verify : yield* unlessRepeated(sql, cipher, id, changes.verify)
  const changed = yield* update(
    sql,
    id,
    `name = coalesce($2, s.name),
     encoding = CASE WHEN $3 THEN $4 ELSE s.encoding END,
     thanks_url = CASE WHEN $5 THEN $6 ELSE s.thanks_url END,
     keep_headers = coalesce($7::text[], s.keep_headers),
     header_fields = coalesce($8::text[], s.header_fields),
     keep_query = coalesce($9, s.keep_query),${VERIFY_CHANGE},${CHALLENGE_CHANGE},
     rate = CASE WHEN $17 THEN $18 ELSE s.rate END`,
    [
      name ?? null,
      encoding !== undefined,
      encoding ?? null,
      thanksUrl !== undefined,
      thanksUrl ?? null,
      keepHeaders ?? null,
      headerFields ?? null,
      keepQuery ?? null,
      verify !== undefined,
      verify == null ? null : settingJson(verify),
      encrypted(cipher, "verification secret", verify?.secret),
      verify?.keepOldSecret ?? false,
      challenge !== undefined,
      challenge?.provider ?? null,
      encrypted(cipher, "challenge secret", challenge?.secret),
      rate !== undefined,
      rate ?? null,
    ],
  )
  if (verify !== undefined) yield* sql.unsafe(FORGET_REFUSED, [id])
  return changed
})

/** $4: for how many seconds the secret of now is kept; null: not at all. */
const ROTATE = `intake_secret = $2, secret_hash = decode($3, 'hex'),
  old_secret_hash = CASE WHEN $4::float8 IS NOT NULL THEN s.secret_hash END,
  old_secret_until = cabinet.now() + make_interval(secs => $4)`

const rotateSecret = (sql: Sql, id: number, keepOldSeconds: number | null) =>
  Effect.suspend(() => {
    const secret = newSecret()
    return update(sql, id, ROTATE, [secret, secretHash(secret), keepOldSeconds])
  })

const remove = Effect.fnUntraced(function* (sql: Sql, id: number, table: "keep" | "drop") {
  const [before] = yield* one(sql, id)
  if (before === undefined) return { is: "missing" } as const
  const forgotten =
    "verify = NULL, verify_secret = NULL, verify_old_secret = NULL, challenge = NULL, challenge_secret = NULL, old_secret_hash = NULL, old_secret_until = NULL"
  yield* update(sql, id, `deleted_at = cabinet.now(), ${forgotten}${table === "drop" ? ", table_name = NULL" : ""}`)
  // If the table is kept, its deferred rows are still written.
  if (table === "drop") {
    yield* sql`DELETE FROM cabinet.deferred_row WHERE source_id = ${id}`
    yield* sql`DELETE FROM cabinet.row_set_aside WHERE source_id = ${id}`
  }
  // Their headers are secrets that nobody needs any more; retention removes their seen marks.
  yield* sql`
    UPDATE cabinet.poll SET removed_at = cabinet.now(), headers = '[]', lease = NULL
    WHERE source_id = ${id} AND removed_at IS NULL`
  if (table === "drop" && before.table_name !== null) {
    const name = before.table_name
    yield* sql.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT_SECONDS}s'`)
    yield* sql
      .unsafe(`DROP TABLE IF EXISTS ${quoteQualified(SOURCES_SCHEMA, name)}`)
      .pipe(Effect.mapError((error) => notDropped(name, error)))
  }
  return { is: "removed" } as const
})

/** What intake looks up, with the sources that were found last by their secrets. */
const intakeLookup = (quick: StatementClient["Service"], cipher: SecretCipher) => {
  const intakeSource = toIntakeSource(cipher)
  const cached = new Map<string, IntakeSource>()
  return {
    cached: (secret: string) => cached.get(secret),
    bySecret: Effect.fnUntraced(function* (secret: string) {
      const [row] = yield* quick.unsafe<IntakeRow & { readonly by_old: boolean }>(
        `SELECT ${INTAKE_COLUMNS}, s.secret_hash <> decode($1, 'hex') AS by_old FROM cabinet.source s
         WHERE (s.secret_hash = decode($1, 'hex') OR (s.old_secret_hash = decode($1, 'hex') AND s.old_secret_until > cabinet.now()))
           AND s.deleted_at IS NULL AND s.archived_at IS NULL`,
        [secretHash(secret)],
      )
      if (row === undefined || row.by_old) {
        // An old secret is looked up each time: nothing tells this process when its time is over.
        cached.delete(secret)
        return row === undefined ? Option.none() : Option.some(intakeSource(row))
      }
      if (cached.size >= MAX_CACHED) cached.clear()
      const source = intakeSource(row)
      cached.set(secret, source)
      return Option.some(source)
    }, orUnavailable),
    forIntake: (id: number) =>
      first(
        quick.unsafe<IntakeRow>(
          `SELECT ${INTAKE_COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL AND s.archived_at IS NULL`,
          [id],
        ),
        intakeSource,
      ),
  }
}

export const layer = Layer.effect(
  SourceStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    return SourceStore.of({
      create: (source) => sql.withTransaction(create(sql, cipher, source)).pipe(orUnavailable),
      list: sql
        .unsafe<SourceRow>(`SELECT ${COLUMNS} FROM cabinet.source s WHERE s.deleted_at IS NULL ORDER BY s.id`)
        .pipe(
          Effect.map((rows) => rows.map(toSource)),
          orUnavailable,
        ),
      get: (id) => first(one(sql, id), toSource),
      reveal: (id) => first(one(sql, id), toSourceWithSecret),
      change: (id, changed) => first(sql.withTransaction(change(sql, cipher, id, changed)), toSource),
      archive: (id) => first(update(sql, id, "archived_at = coalesce(s.archived_at, cabinet.now())"), toSource),
      restore: (id) => first(update(sql, id, "archived_at = NULL"), toSource),
      remove: (id, table) =>
        sql.withTransaction(remove(sql, id, table)).pipe(
          Effect.catchTag("NotRemoved", ({ removal }) => Effect.succeed(removal)),
          orUnavailable,
        ),
      rotateSecret: (id, keepOldSeconds) => first(rotateSecret(sql, id, keepOldSeconds), toSourceWithSecret),
      ...intakeLookup(yield* StatementClient, cipher),
    })
  }),
)
