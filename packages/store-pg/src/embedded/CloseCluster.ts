/**
 * Revokes what PostgreSQL grants every role in every database and only a superuser can revoke, which we are here:
 * advisory locks, with which one customer's view could exhaust the server's lock table; terminating and cancelling
 * other sessions of the same role, which are other clients' reads; large objects, exported snapshots and messages in
 * the log of changes, with which a role that may only read could fill the disk; the functions of XML and the trusted
 * languages besides PL/pgSQL, which nothing can stop while they run; and logging in to the maintenance databases. The
 * owner keeps all of these. (PostgreSQL requires no privilege to run XMLTABLE: `ReadLimiter` still holds such a read if
 * it does not end.)
 *
 * What the owner needs besides: the group by which the login for reports is admitted over TCP, the right to limit its
 * temporary files, and connections that no other role can take.
 *
 * This includes `template0`, which every new cabinet's database is a copy of. The changes are in the cluster's own
 * files, so backups contain them. The database `postgres` comes last: if nothing is open in it, all the others are
 * closed as well.
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import { OPEN_LANGUAGES, UNSTOPPABLE_FUNCTIONS } from "../connection/UnstoppableCode.ts"
import { OPEN_TO_ALL } from "../migrations/CloseDatabase.ts"
import type { Endpoint } from "./Endpoint.ts"
import { REPORTS_GROUP } from "../migrations/ReportsRole.ts"

/** The functions that PUBLIC may call in this database but must not. The owner may grant those of XML to others. */
const OPEN_FUNCTIONS = `
  SELECT p.oid::regprocedure::text AS function, p.proname ~ '${UNSTOPPABLE_FUNCTIONS}' AS xml FROM pg_proc p
  WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND (p.proname ~ '^pg_(try_)?advisory_|^lo_|^pg_logical_emit_message$|${UNSTOPPABLE_FUNCTIONS}'
      OR p.proname IN ('pg_terminate_backend', 'pg_cancel_backend', 'loread', 'lowrite', 'pg_export_snapshot'))
    AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0)`

/** A role with it may use the reserved connections, from PostgreSQL 16 on. */
const RESERVED_GROUP = "pg_use_reserved_connections"

/** `template0` allows no connections, except while it is being closed: a process may have been killed just then. */
const IS_OPEN = `
  SELECT EXISTS (${OPEN_FUNCTIONS}) OR EXISTS (
    SELECT FROM pg_database d
    WHERE d.datname IN ('postgres', 'template1') AND ${OPEN_TO_ALL} OR d.datname = 'template0' AND d.datallowconn)
  OR NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${REPORTS_GROUP}')
  OR EXISTS (SELECT FROM pg_roles WHERE rolname = '${RESERVED_GROUP}' AND NOT pg_has_role($1::name, oid, 'MEMBER'))
  OR NOT has_parameter_privilege($1::name, 'temp_file_limit', 'SET') AS open`

/** A database whose removal was interrupted has the connection limit -2, and allows no connections. */
const OTHERS = `SELECT datname::text AS name FROM pg_database
  WHERE datallowconn AND datconnlimit <> -2 AND datname <> 'postgres' ORDER BY 1`

/** Enough for the owner's sessions of one server to go on while every other role's connections are in use. */
const RESERVED = 10

/** One row if the setting exists and is unset, and enough connections remain for the other roles. */
const MAY_RESERVE = `
  SELECT FROM pg_settings WHERE name = 'reserved_connections' AND source = 'default'
    AND current_setting('max_connections')::int4 >= ${5 * RESERVED}`

interface ClusterRoles {
  readonly superuser: string
  readonly owner: string
}

const run = (statement: string) => PgClient.PgClient.use((sql) => sql.unsafe(statement))

/** The functions' names come from the catalog, with their arguments, as this session's search path resolves them. */
const functionsClosed = (owner: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const languages = yield* sql.unsafe<{ name: string }>(OPEN_LANGUAGES)
    for (const { name } of languages) {
      yield* run(`REVOKE USAGE ON LANGUAGE ${quoteName(name)} FROM PUBLIC`)
      yield* run(`GRANT USAGE ON LANGUAGE ${quoteName(name)} TO ${quoteName(owner)} WITH GRANT OPTION`)
    }
    const open = yield* sql.unsafe<{ function: string; xml: boolean }>(OPEN_FUNCTIONS)
    if (open.length === 0) return
    const list = (found: typeof open) => found.map((row) => row.function).join(", ")
    const grants = [open.filter(({ xml }) => !xml), open.filter(({ xml }) => xml)]
      .filter((found) => found.length > 0)
      .map((found) => {
        const option = found[0]!.xml ? " WITH GRANT OPTION" : ""
        return run(`GRANT EXECUTE ON FUNCTION ${list(found)} TO ${quoteName(owner)}${option}`)
      })
    yield* sql.withTransaction(
      Effect.andThen(run(`REVOKE EXECUTE ON FUNCTION ${list(open)} FROM PUBLIC`), Effect.all(grants)),
    )
  })

/** Applies from the next start on. */
const connectionsReserved = (owner: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [group] = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${RESERVED_GROUP}`
    if (group === undefined) return
    if ((yield* sql.unsafe(MAY_RESERVE)).length > 0) yield* run(`ALTER SYSTEM SET reserved_connections = ${RESERVED}`)
    yield* run(`GRANT ${RESERVED_GROUP} TO ${quoteName(owner)}`)
  })

/**
 * Does nothing if everything is closed, as on every start after a cluster's first. Returns whether everything is;
 * failures are logged.
 */
export const closeCluster = (endpoint: Endpoint, { superuser, owner }: ClusterRoles): Effect.Effect<boolean> => {
  const as = <A, E>(database: string, work: Effect.Effect<A, E, PgClient.PgClient>) =>
    Effect.provide(
      work,
      SessionPool.layer({ url: endpoint.urlFor(superuser, database), maxConnections: 1, settings: unlimited }),
      { local: true },
    )
  const closeFunctions = functionsClosed(owner)

  const prepareReports = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [group] = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${REPORTS_GROUP}`
    if (group === undefined) yield* run(`CREATE ROLE ${REPORTS_GROUP} NOLOGIN`)
    yield* run(`GRANT ${REPORTS_GROUP} TO ${quoteName(owner)} WITH ADMIN OPTION`)
    yield* run(`GRANT SET ON PARAMETER temp_file_limit TO ${quoteName(owner)}`)
  })

  const closeTemplate = Effect.acquireUseRelease(
    run("ALTER DATABASE template0 ALLOW_CONNECTIONS true"),
    () => as("template0", closeFunctions),
    () => run("ALTER DATABASE template0 ALLOW_CONNECTIONS false"),
  )

  const close = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [found] = yield* sql.unsafe<{ open: boolean }>(IS_OPEN, [owner])
    if (!found!.open) return
    yield* run("REVOKE ALL ON DATABASE template0, template1, postgres FROM PUBLIC")
    // Programs that are given the owner's URL connect to that database first.
    yield* run(`GRANT CONNECT ON DATABASE postgres TO ${quoteName(owner)}`)
    yield* prepareReports
    yield* connectionsReserved(owner)
    yield* closeTemplate
    const others = yield* sql.unsafe<{ name: string }>(OTHERS)
    for (const { name } of others) yield* as(name, closeFunctions)
    yield* closeFunctions
  })
  return as("postgres", close).pipe(
    Effect.as(true),
    // Rights revoked so far stay revoked. A failure does not stop the start, and the next start tries again.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning("The rights of PUBLIC in the embedded PostgreSQL cannot be revoked", cause), false),
    ),
  )
}
