/**
 * Migrates a database: applies every numbered script of this folder that is missing, each in a transaction of its own,
 * under a lock, so that any number of processes may start at once. A new database gets all of them in one. Refuses a database that cannot store all texts (an encoding other
 * than UTF-8), a PostgreSQL that is too old, a database of an early development version, and one that a newer program
 * has already migrated.
 *
 * Processes of the previous version keep serving during a migration, and afterwards until they are replaced. So a script
 * keeps everything that they use: it adds, and removes only what the previous version no longer uses. It also must not
 * wait long for a table, because sessions that queue behind its lock wait as well. It waits less time than accepting an
 * event does, releases its locks, and retries a little later. One transaction for all scripts would collect the locks of
 * nearly every table, and under load never get the last of them.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, sqlState } from "../connection/StoreFailure.ts"
import { splitStatements } from "../connection/SqlScript.ts"
import { migrationFiles } from "./MigrationFiles.ts"

export class MigrationError extends Schema.TaggedError<MigrationError>()("MigrationError", {
  code: Schema.Literals(["encoding", "version", "older", "newer", "rights", "busy"]),
  message: Schema.String,
}) {}

export interface Migration {
  readonly number: number
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

const OLDEST_VERSION = 150000

/** The name of the first script. Until 24 November 2026 another script, with other tables, had its number. */
const FIRST = "schema"

/** How long a script waits for a lock: half as long as accepting an event does. */
const LOCK_TIMEOUT = "500ms"
/** Together the attempts take a little over two minutes. */
const MAX_ATTEMPTS = 30
const retries = Schedule.min([Schedule.exponential("250 millis", 1.5), Schedule.spaced("5 seconds")]).pipe(
  Schedule.upTo({ times: MAX_ATTEMPTS }),
)

const numberOf = (file: string) => Number(file.slice(0, 4))

/** The numbers of this version's scripts, in order. */
export const migrationNumbers: Effect.Effect<ReadonlyArray<number>> = Effect.promise(async () =>
  (await migrationFiles()).map(({ name }) => numberOf(name)),
)

/** This version's scripts, by number. */
export const migrations: Effect.Effect<ReadonlyArray<Migration>> = Effect.promise(async () =>
  (await migrationFiles()).map(({ name, text }) => ({
    number: numberOf(name),
    name: name.slice(5, -4),
    statements: splitStatements(text),
  })),
)

/**
 * Finds a schema of our name that another role owns, and could fill with objects of its own. It is refused even if it seems
 * to contain all of ours, because that role then created them.
 */
const FOREIGN_SCHEMA = `
  SELECT n.nspname::text AS schema, o.rolname::text AS owner
  FROM pg_namespace n JOIN pg_roles o ON o.oid = n.nspowner
  WHERE n.nspname IN ('cabinet', 'sources') AND o.rolname <> current_user AND NOT o.rolsuper`

const busy = () =>
  new MigrationError({
    code: "busy",
    message:
      "The schema cannot be migrated: for two minutes another transaction has locked or read a table of the cabinet. End that transaction (cabinet doctor lists long ones) and start again.",
  })

/** Another process was faster; when it has finished, its table exists, and this one can wait for its lock. */
class CreatedByAnother extends Schema.TaggedError<CreatedByAnother>()("CreatedByAnother", {}) {}

/** Concurrent attempts conflict in the catalog: the second waits for the first, and is then rejected. */
const createHouse = Effect.fnUntraced(
  function* (sql: PgClient.PgClient) {
    yield* sql`CREATE SCHEMA IF NOT EXISTS cabinet`
    yield* sql`CREATE TABLE cabinet.migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  },
  Effect.catchIf(
    (error: SqlError.SqlError) => ["23505", "42P06", "42P07"].includes(sqlState(error) ?? ""),
    () => new CreatedByAnother(),
  ),
)

/** Returns those of these scripts that a database lacks, or refuses it. */
const missingOf = Effect.fnUntraced(function* (
  all: ReadonlyArray<Migration>,
  rows: ReadonlyArray<Pick<Migration, "number" | "name">>,
): Effect.fn.Return<ReadonlyArray<Migration>, MigrationError> {
  if (rows.some(({ number, name }) => number === 1 && name !== FIRST)) {
    return yield* new MigrationError({
      code: "older",
      message:
        "The database was created by a development version from before 24 November 2026, whose tables this version does not read (its first migration is named cabinet, not schema). Start this version on another database or data directory. The old data stays readable: by the last commit of that time (git checkout d3f38bfd, then npm start), or with psql, as the tables of schema sources and as cabinet.event.",
    })
  }
  const had = new Set(rows.map(({ number }) => number))
  const newest = all.at(-1)?.number ?? 0
  const ahead = [...had].find((number) => number > newest)
  if (ahead !== undefined) {
    return yield* new MigrationError({
      code: "newer",
      message: `The database has had migration ${ahead}, but this program knows only ${newest}: it was used by a newer version. Start that version or a later one.`,
    })
  }
  return all.filter(({ number }) => !had.has(number))
})

const nameOf = ({ number, name }: Migration): string => `${String(number).padStart(4, "0")}_${name}`

/** Refuses a server that cannot store a cabinet; returns whether the user may create schemas. */
const checkServer = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [server] = yield* sql<{ encoding: string; version: number; may: boolean }>`
    SELECT pg_encoding_to_char(encoding) AS encoding, current_setting('server_version_num')::int4 AS version,
           has_database_privilege(current_database(), 'CREATE') AS may
    FROM pg_database WHERE datname = current_database()`
  if (server!.encoding !== "UTF8") {
    return yield* new MigrationError({
      code: "encoding",
      message: `The database's encoding is ${server!.encoding}; a cabinet needs UTF8. Create one with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
    })
  }
  if (server!.version < OLDEST_VERSION) {
    return yield* new MigrationError({
      code: "version",
      message: `The database is PostgreSQL ${Math.floor(server!.version / 10000)}; a cabinet needs 15 or newer.`,
    })
  }
  return server!.may
})

/** Locks the table of the scripts that were applied, which it creates in a new database, and returns them. */
const lockedRecord = Effect.fnUntraced(function* (sql: PgClient.PgClient, mayCreate: boolean) {
  const [foreign] = yield* sql.unsafe<{ schema: string; owner: string }>(FOREIGN_SCHEMA)
  if (foreign !== undefined) {
    return yield* new MigrationError({
      code: "rights",
      message: `The schema ${foreign.schema} exists already and belongs to ${foreign.owner}, who could replace its objects at any time. Drop it, and start again.`,
    })
  }
  const [house] = yield* sql<{ there: boolean }>`SELECT to_regclass('cabinet.migration') IS NOT NULL AS there`
  // One process at a time, by a table lock: any role could hold an advisory one. It does not block readers.
  if (house!.there) yield* sql`LOCK TABLE cabinet.migration IN SHARE ROW EXCLUSIVE MODE`
  yield* sql.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
  if (!house!.there) {
    if (!mayCreate) {
      return yield* new MigrationError({
        code: "rights",
        message:
          "The database user may not create schemas here. Let its owner run: GRANT CREATE ON DATABASE … TO …; or name a user that owns the database in DATABASE_URL.",
      })
    }
    yield* createHouse(sql)
  }
  return yield* sql<{ number: number; name: string }>`SELECT number, name FROM cabinet.migration`
})

/** Applies those of these scripts that are missing, and returns their names: `[]` for an up-to-date database. */
export const applyMigrations = Effect.fnUntraced(function* (all: ReadonlyArray<Migration>) {
  const sql = yield* PgClient.PgClient
  const mayCreate = yield* checkServer(sql)
  let current = ""
  let waiting = ""
  const applyNext = Effect.gen(function* () {
    const rows = yield* lockedRecord(sql, mayCreate)
    const missing = yield* missingOf(all, rows)
    const applied: Array<string> = []
    for (const migration of rows.length === 0 ? missing : missing.slice(0, 1)) {
      current = nameOf(migration)
      for (const statement of migration.statements) yield* sql.unsafe(statement)
      yield* sql`INSERT INTO cabinet.migration (number, name) VALUES (${migration.number}, ${migration.name})`
      applied.push(current)
    }
    return { applied, isDone: applied.length === missing.length }
  })
  const sayThatItWaits = Effect.suspend(() => {
    if (waiting === current) return Effect.void
    waiting = current
    return Effect.logInfo(`migrating the schema: ${current} waits for transactions that use its tables`)
  })
  const patiently = connectionLossAsError(sql.withTransaction(applyNext)).pipe(
    Effect.tapError((error) => (isLockTimeout(error) ? sayThatItWaits : Effect.void)),
    Effect.retry({ schedule: retries, while: (error) => isLockTimeout(error) || error instanceof CreatedByAnother }),
    Effect.catchIf(isLockTimeout, busy),
    Effect.catchTag("CreatedByAnother", busy),
  )
  const applied: Array<string> = []
  for (;;) {
    const step = yield* patiently
    for (const name of step.applied) applied.push(name)
    if (step.isDone) return applied
  }
})

const isLockTimeout = (error: unknown): boolean => SqlError.isSqlError(error) && sqlState(error) === "55P03"

/** $1: the oldest supported version of PostgreSQL. */
const IS_FIT = `
  SELECT pg_encoding_to_char(encoding) = 'UTF8' AND current_setting('server_version_num')::int4 >= $1::int4
      AND NOT EXISTS (${FOREIGN_SCHEMA}) AS fit,
    ARRAY(SELECT number FROM cabinet.migration WHERE number <> 1 OR name = '${FIRST}' ORDER BY number) AS had
  FROM pg_database WHERE datname = current_database()`

/**
 * Whether the database is up to date, as on nearly every start: one statement, without a lock and without reading a
 * script. If it returns false, `applyMigrations` examines the database and reports what is wrong.
 */
const isUpToDate = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const known = yield* migrationNumbers
  const [here] = yield* sql.unsafe<{ fit: boolean; had: ReadonlyArray<number> }>(IS_FIT, [OLDEST_VERSION])
  return here!.fit && here!.had.length === known.length && known.every((number, at) => number === here!.had[at])
}).pipe(
  // The table does not exist yet, or cannot be read.
  Effect.catchIf(
    (error) => sqlState(error)?.startsWith("42") === true,
    () => Effect.succeed(false),
  ),
)

/** Applies this version's scripts. */
export const migrate = Effect.flatMap(connectionLossAsError(isUpToDate), (isDone) =>
  isDone ? Effect.succeed([]) : Effect.flatMap(migrations, applyMigrations),
)
