/**
 * Quiesces a cabinet's database while it is copied: it can be read, but not written. Intake waits for a lock that it
 * does not get, and responds with 503. If the process dies, so do its locks, and the cabinet stays where it was.
 *
 * Once the copy is complete, the transaction that quiesced the database closes it for good: servers that do not yet
 * know of the move can accept nothing that the copy lacks.
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import { connectionLossAsError, isConflict, sqlMessage } from "../connection/StoreFailure.ts"
import { LOCK_ROLES } from "../connection/AuthorLogin.ts"
import { CopyError } from "./ClientPrograms.ts"

/**
 * All tables of the database except those that reads themselves write to: rate counts, and the last use of keys.
 * Issuing and revoking keys and tokens must first be recorded in the audit log, which is quiesced.
 */
const TABLES = `
SELECT n.nspname::text AS schema, c.relname::text AS name, pg_has_role(c.relowner, 'USAGE') AS mine
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT (n.nspname = 'cabinet' AND c.relname IN ('rate_window', 'api_key', 'access_token', 'fence'))
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
ORDER BY 1, 2`

/** Ends scripts that run as the author; new ones wait for the lock on roles. */
const END_AUTHORS = `
SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
WHERE datname = current_database() AND usename IN (SELECT role FROM cabinet.role_password WHERE role LIKE '%\\_author')`

/** 57PE0 is the code of a server that shuts down, so that callers retry. */
const MOVED = `
CREATE OR REPLACE FUNCTION cabinet.moved() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE 'this cabinet was moved to another server' USING ERRCODE = '57PE0'; END $$`

interface Table {
  readonly schema: string
  readonly name: string
  readonly mine: boolean
}

const nameOf = ({ schema, name }: Table): string => `${quoteName(schema)}.${quoteName(name)}`

const onSession = (url: string, applicationName: string) =>
  SessionPool.layer({ url, maxConnections: 1, connectTimeout: "5 seconds", applicationName, settings: unlimited })

const inWords = (error: unknown) => {
  if (error instanceof CopyError) return error
  const fault = error as Parameters<typeof sqlMessage>[0]
  return isConflict(fault)
    ? new CopyError({
        code: "busy",
        message: `The cabinet's database stayed in use for too long (${sqlMessage(fault)}). Nothing was moved: try again when its long transactions have ended; cabinet doctor names them.`,
      })
    : new CopyError({ code: "failed", message: `The cabinet's database cannot be quiesced: ${sqlMessage(fault)}.` })
}

/** Runs `copy` while the database is quiesced. On success, closes the database for good; otherwise, releases it. */
export const quiesced = <A>(url: string, copy: Effect.Effect<A, CopyError>): Effect.Effect<A, CopyError> =>
  PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const run = (statement: string) => sql.unsafe(statement)
        yield* run("SET LOCAL lock_timeout = '10s'")
        yield* run("SELECT cabinet.close_fence()")
        yield* run(LOCK_ROLES)
        yield* run(END_AUTHORS)
        const tables = (yield* sql.unsafe<Table>(TABLES)).filter(({ mine }) => mine)
        yield* run(`LOCK TABLE ${tables.map(nameOf).join(", ")} IN SHARE ROW EXCLUSIVE MODE`)
        const copied = yield* copy
        yield* run(MOVED)
        for (const table of tables) {
          yield* run(
            `CREATE TRIGGER cabinet_moved BEFORE INSERT OR UPDATE OR DELETE ON ${nameOf(table)} FOR EACH STATEMENT EXECUTE FUNCTION cabinet.moved()`,
          )
        }
        return copied
      }),
    ),
  ).pipe(
    connectionLossAsError,
    Effect.provide(onSession(url, "data-cabinet move"), { local: true }),
    Effect.mapError(inWords),
  )

/** Tables closed by an earlier move that ended before the registry recorded it. */
const CLOSED = `
SELECT c.relnamespace::regnamespace::text AS schema, c.relname::text AS name, true AS mine
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE t.tgfoid = to_regproc('cabinet.moved') AND NOT t.tgisinternal`

/** Reopens a database that a failed move has closed; the registry still points to it. */
export const reopen = (url: string): Effect.Effect<void, CopyError> =>
  PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        for (const table of yield* sql.unsafe<Table>(CLOSED)) {
          yield* sql.unsafe(`DROP TRIGGER cabinet_moved ON ${table.schema}.${quoteName(table.name)}`)
        }
        yield* sql.unsafe("DROP FUNCTION IF EXISTS cabinet.moved()")
      }),
    ),
  ).pipe(
    connectionLossAsError,
    Effect.provide(onSession(url, "data-cabinet move"), { local: true }),
    Effect.mapError(inWords),
  )
