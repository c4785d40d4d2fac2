/**
 * How many connections a process may hold: the limit of the server, the role or the database, minus those of other
 * programs and a few for commands, divided by the number of the cabinets' processes. The names of their sessions reveal
 * that number.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectionLossAsError } from "./StoreFailure.ts"
import { GROUP_NAME } from "./SessionGroup.ts"
import { WriteSessions } from "./WriteSession.ts"

/** The connections left to commands, which come and go. */
const FOR_COMMANDS = 3

/** A second process, to send or to take over, always finds room. */
const MIN_PROCESSES = 2

/** The connections that write events; they are opened first and are not counted. */
const FOR_WRITING = 2

/** The fewest that a process works with: one that listens, one each for shared statements and reads, and one for transactions. */
const MIN_CONNECTIONS = 4

/**
 * A process counts once one of its sessions is 20 s old: a command has ended by then. -1 means that a role or a database
 * has no limit. Only sessions of clients count against the limits.
 */
const CONNECTIONS = `
WITH client AS MATERIALIZED (
  SELECT a.datid, a.usesysid, pg_catalog.substring(a.application_name, '${GROUP_NAME}') AS process, a.backend_start
  FROM pg_catalog.pg_stat_activity a
  WHERE a.usesysid IS NOT NULL AND (a.backend_type IS NULL OR a.backend_type = 'client backend') AND a.pid <> pg_catalog.pg_backend_pid())
SELECT pg_catalog.current_setting('max_connections')::int4
         - pg_catalog.current_setting('superuser_reserved_connections')::int4
         - coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::int4 AS server_limit,
       r.rolconnlimit AS role_limit, d.datconnlimit AS database_limit,
       (SELECT pg_catalog.count(*)::int4 FROM client WHERE process IS NULL) AS on_server,
       (SELECT pg_catalog.count(*)::int4 FROM client WHERE process IS NULL AND usesysid = r.oid) AS of_role,
       (SELECT pg_catalog.count(*)::int4 FROM client WHERE process IS NULL AND datid = d.oid) AS in_database,
       (SELECT pg_catalog.count(DISTINCT process)::int4 FROM client
        WHERE process IS NOT NULL AND backend_start < pg_catalog.now() - INTERVAL '20 seconds') AS processes
FROM pg_catalog.pg_roles r, pg_catalog.pg_database d
WHERE r.rolname = CURRENT_USER AND d.datname = pg_catalog.current_database()`

/** The database's limit, and the connections in use. */
export interface Connections {
  readonly server_limit: number
  readonly role_limit: number
  readonly database_limit: number
  readonly on_server: number
  readonly of_role: number
  readonly in_database: number
  readonly processes: number
}

/** The connections of one process, except those that write; `processes` is how many its own supervisor starts. */
export const shareOf = (found: Connections, processes = 1): number => {
  const { role_limit: role, database_limit: database } = found
  const allowed = Math.min(
    found.server_limit - found.on_server,
    role < 0 ? Number.POSITIVE_INFINITY : role - found.of_role,
    database < 0 ? Number.POSITIVE_INFINITY : database - found.in_database,
  )
  const divided = (allowed - FOR_COMMANDS) / Math.max(MIN_PROCESSES, processes, found.processes)
  return Math.max(MIN_CONNECTIONS, Math.floor(divided) - FOR_WRITING)
}

/** Reads the server's limit, and bounds this process's connections by it. */
export const fitConnections = (processes?: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { share } = yield* WriteSessions
    const [found] = yield* sql.unsafe<Connections>(CONNECTIONS)
    if (found !== undefined) share.fit(shareOf(found, processes))
  }).pipe(connectionLossAsError)
