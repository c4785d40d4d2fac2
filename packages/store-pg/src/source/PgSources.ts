/**
 * Sources in PostgreSQL: each has a table, a secret address, and a version that invalidates what was parsed before a
 * change.
 */
import { hash, randomBytes } from "node:crypto"
import { readableName } from "@data-cabinet/core/row/ReadableName"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import {
  type IntakeSource,
  SOURCE_ENCODINGS,
  type Source,
  type SourceEncoding,
  type SourceWithSecret,
} from "@data-cabinet/core/source/Source"
import { SourceError } from "@data-cabinet/core/source/SourceError"
import { Sources } from "@data-cabinet/core/source/Sources"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, sqlState } from "../connection/StoreFailure.ts"
import { createTable, SOURCES_SCHEMA } from "../row/SourceTable.ts"

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
}

const COLUMNS = `s.id::text AS id, s.name, s.archived_at IS NOT NULL AS archived, s.table_name,
  cabinet.rfc3339(s.created_at) AS created_at, s.encoding, s.thanks_url, s.intake_secret, s.version`

const toSource = (row: SourceRow): Source => ({
  id: Number(row.id),
  name: row.name,
  archived: row.archived,
  table: row.table_name === null ? null : { schema: SOURCES_SCHEMA, name: row.table_name },
  createdAt: row.created_at,
  encoding: row.encoding,
  thanksUrl: row.thanks_url,
})

const toSourceWithSecret = (row: SourceRow): SourceWithSecret => ({ ...toSource(row), intakeSecret: row.intake_secret })

const toIntakeSource = (row: SourceRow): IntakeSource => ({
  id: Number(row.id),
  version: row.version,
  encoding: row.encoding,
  thanksUrl: row.thanks_url,
})

const newSecret = (): string => randomBytes(24).toString("base64url")
const secretHash = (secret: string): string => hash("sha256", secret)

/** Maximum number of cached secrets. Accept refuses an outdated version, so the cache may be stale without harm. */
const REMEMBERED = 10_000

const checkName = (name: string) =>
  name.trim() === "" || name.length > 200
    ? Effect.fail(new SourceError({ code: "bad_name", message: "A source needs a name of 1 to 200 characters." }))
    : Effect.void

const checkEncoding = (encoding: SourceEncoding | null | undefined) =>
  encoding == null || SOURCE_ENCODINGS.includes(encoding)
    ? Effect.void
    : Effect.fail(
        new SourceError({ code: "bad_encoding", message: `An encoding is one of ${SOURCE_ENCODINGS.join(", ")}.` }),
      )

const checkThanksUrl = (url: string | null | undefined) =>
  url == null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
    ? Effect.void
    : Effect.fail(
        new SourceError({ code: "bad_thanks_url", message: "A thank-you address begins with http:// or https://." }),
      )

const noSuchSource = (id: number) => new SourceError({ code: "no_such_source", message: `There is no source ${id}.` })

/** Why a table could not be dropped, if the reason is neither our fault nor the caller's. */
const tableInUse = (table: string, state: string | undefined): SourceError | undefined => {
  const refuse = (message: string) => new SourceError({ code: "table_in_use", message })
  if (state === "2BP01") {
    return refuse(`Views depend on sources.${table}. Drop them first, or delete the source and keep its table.`)
  }
  if (state === "55P03") {
    return refuse(
      `sources.${table} is being used and could not be locked within 3 seconds. Try again at a quieter moment.`,
    )
  }
  return undefined
}

export const layer = Layer.effect(
  Sources,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const quick = yield* StatementClient
    const remembered = new Map<string, IntakeSource>()

    const one = (id: number) =>
      sql.unsafe<SourceRow>(`SELECT ${COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL`, [id])

    /** Changes one row, and returns it as it is afterwards. */
    const update = Effect.fnUntraced(function* (id: number, assignments: string, values: ReadonlyArray<unknown> = []) {
      const [row] = yield* sql.unsafe<SourceRow>(
        `UPDATE cabinet.source s SET ${assignments} WHERE s.id = $1 AND s.deleted_at IS NULL RETURNING ${COLUMNS}`,
        [id, ...values],
      )
      if (row === undefined) return yield* noSuchSource(id)
      return row
    })

    return Sources.of({
      create: Effect.fnUntraced(function* (source) {
        yield* checkName(source.name)
        yield* checkEncoding(source.encoding)
        yield* checkThanksUrl(source.thanksUrl)
        const secret = newSecret()
        const work = Effect.gen(function* () {
          // Two sources of one name created at once would choose the same table name: they are serialized here.
          yield* sql`SELECT FROM cabinet.job_lock WHERE name = 'source tables' FOR UPDATE`
          const tables = yield* sql<{ name: string }>`
            SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'sources'::regnamespace
            UNION SELECT table_name FROM cabinet.source WHERE table_name IS NOT NULL`
          const table = readableName(source.name, new Set(tables.map((row) => row.name)), "source")
          const [row] = yield* sql.unsafe<SourceRow>(
            `INSERT INTO cabinet.source AS s (name, intake_secret, secret_hash, encoding, thanks_url, table_name)
             VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6) RETURNING ${COLUMNS}`,
            [source.name, secret, secretHash(secret), source.encoding ?? null, source.thanksUrl ?? null, table],
          )
          yield* sql.unsafe(createTable(table))
          return toSourceWithSecret(row!)
        })
        return yield* sql.withTransaction(work)
      }, orUnavailable),
      list: sql
        .unsafe<SourceRow>(`SELECT ${COLUMNS} FROM cabinet.source s WHERE s.deleted_at IS NULL ORDER BY s.id`)
        .pipe(
          Effect.map((rows) => rows.map(toSource)),
          orUnavailable,
        ),
      get: (id) =>
        one(id).pipe(
          Effect.map((rows) => Option.map(Option.fromNullishOr(rows[0]), toSource)),
          orUnavailable,
        ),
      reveal: Effect.fnUntraced(function* (id) {
        const [row] = yield* one(id)
        if (row === undefined) return yield* noSuchSource(id)
        return toSourceWithSecret(row)
      }, orUnavailable),
      change: Effect.fnUntraced(function* (id, change) {
        if (change.name !== undefined) yield* checkName(change.name)
        yield* checkEncoding(change.encoding)
        yield* checkThanksUrl(change.thanksUrl)
        const row = yield* update(
          id,
          `name = coalesce($2, s.name),
           encoding = CASE WHEN $3 THEN $4 ELSE s.encoding END,
           thanks_url = CASE WHEN $5 THEN $6 ELSE s.thanks_url END`,
          [
            change.name ?? null,
            change.encoding !== undefined,
            change.encoding ?? null,
            change.thanksUrl !== undefined,
            change.thanksUrl ?? null,
          ],
        )
        return toSource(row)
      }, orUnavailable),
      archive: (id) =>
        update(id, "archived_at = coalesce(s.archived_at, cabinet.now())").pipe(Effect.map(toSource), orUnavailable),
      restore: (id) => update(id, "archived_at = NULL").pipe(Effect.map(toSource), orUnavailable),
      remove: Effect.fnUntraced(function* (id, table) {
        const work = Effect.gen(function* () {
          const [before] = yield* one(id)
          if (before === undefined) return yield* noSuchSource(id)
          yield* update(id, `deleted_at = cabinet.now()${table === "drop" ? ", table_name = NULL" : ""}`)
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
            yield* sql`SET LOCAL lock_timeout = 3000`
            yield* sql
              .unsafe(`DROP TABLE IF EXISTS ${quoteQualified(SOURCES_SCHEMA, before.table_name)}`)
              .pipe(Effect.mapError((error) => tableInUse(before.table_name!, sqlState(error)) ?? error))
          }
        })
        yield* sql.withTransaction(work)
      }, orUnavailable),
      rotateSecret: Effect.fnUntraced(function* (id) {
        const secret = newSecret()
        const row = yield* update(id, "intake_secret = $2, secret_hash = decode($3, 'hex')", [
          secret,
          secretHash(secret),
        ])
        return toSourceWithSecret(row)
      }, orUnavailable),
      remembered: (secret) => remembered.get(secret),
      bySecret: Effect.fnUntraced(function* (secret) {
        const [row] = yield* quick.unsafe<SourceRow>(
          `SELECT ${COLUMNS} FROM cabinet.source s
           WHERE s.secret_hash = decode($1, 'hex') AND s.deleted_at IS NULL AND s.archived_at IS NULL`,
          [secretHash(secret)],
        )
        if (row === undefined) {
          remembered.delete(secret)
          return Option.none()
        }
        if (remembered.size >= REMEMBERED) remembered.clear()
        const source = toIntakeSource(row)
        remembered.set(secret, source)
        return Option.some(source)
      }, orUnavailable),
      forIntake: (id) =>
        quick
          .unsafe<SourceRow>(
            `SELECT ${COLUMNS} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL AND s.archived_at IS NULL`,
            [id],
          )
          .pipe(
            Effect.map((rows) => Option.map(Option.fromNullishOr(rows[0]), toIntakeSource)),
            orUnavailable,
          ),
    })
  }),
)
