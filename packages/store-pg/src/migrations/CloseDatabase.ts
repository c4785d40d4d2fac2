/**
 * Revokes what PostgreSQL grants PUBLIC in a new database: logging in to it and creating temporary tables. On a server of
 * several databases, the roles of one could otherwise read the functions and views of another, and exhaust its
 * connections. Other roles that need to log in are granted the right by name, and keep it.
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/** Whether PUBLIC has any privilege on a database, `d` of pg_database. */
export const OPEN_TO_ALL =
  "EXISTS (SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a WHERE a.grantee = 0)"

/** `others` are the roles that own an object in this database, have a privilege on one, or are logged in. */
const WHO_MAY_CONNECT = `
SELECT d.datname::text AS database, pg_has_role(d.datdba, 'USAGE') AS mine, ${OPEN_TO_ALL} AS open,
       ARRAY(SELECT r.rolname::text FROM pg_roles r
             WHERE r.rolcanlogin AND NOT r.rolsuper AND r.oid <> d.datdba AND r.rolname <> current_user
               AND r.rolname !~ '^cabinet_.*_(reader|author|reports)$'
               AND (EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid AND s.refclassid = 'pg_authid'::regclass AND s.refobjid = r.oid)
                 OR EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid AND a.usesysid = r.oid))
             ORDER BY 1) AS others
FROM pg_database d WHERE datname = current_database()`

export const revokeFromAll = (database: string) => `REVOKE ALL ON DATABASE ${quoteName(database)} FROM PUBLIC`

/** Closes this database, if this user owns it. */
export const closeDatabase = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql.unsafe<{
    database: string
    mine: boolean
    open: boolean
    others: ReadonlyArray<string>
  }>(WHO_MAY_CONNECT)
  const { database, mine, open, others } = here!
  if (!mine || !open) return
  yield* sql.unsafe(revokeFromAll(database))
  if (others.length === 0) return
  yield* Effect.logWarning(
    `From now on only the cabinet's own roles may log in to the database ${database}. Others have used it (${others.slice(0, 5).join(", ")}${others.length > 5 ? ", …" : ""}); to let one in: GRANT CONNECT ON DATABASE ${quoteName(database)} TO …`,
  )
})
