/**
 * The role for reports: a separate login for psql, a reporting tool or a notebook, with the same read access as the
 * reader. It is created with the other roles. It cannot log in until its password is requested, and that password is
 * not stored anywhere.
 *
 * Privileges alone restrict it, since a session can switch off any setting. It is not a member of the reader's role,
 * because a member could change the reader's password and end its sessions. So every grant to the reader is repeated for
 * it, except on views that show schema `cabinet`.
 *
 * Decision: docs/decisions/0072-the-login-for-reports-rests-on-privileges.md
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { connectionLossAsError, sqlState } from "../connection/StoreFailure.ts"
import { LOCK_ROLES } from "../connection/AuthorLogin.ts"
import { roleName } from "./RoleLogins.ts"

/** A role without privileges, of which every login for reports is a member: PostgreSQL's rules of access name roles. */
export const REPORTS_GROUP = "cabinet_reports"

/** Enough for a few people and a program, yet few enough to leave connections for the cabinet. */
export const REPORTS_SESSIONS = 5

/** How much one session may write to temporary files for sorts and joins. */
const TEMP_FILES = "5GB"

/** True if a view, `c` of pg_class, shows anything of the service's schema, even through other views or a function. */
export const SHOWS_OURS = `EXISTS (
      WITH RECURSIVE seen (oid) AS (
        SELECT c.oid
        UNION
        SELECT d.refobjid FROM seen
        JOIN pg_rewrite w ON w.ev_class = seen.oid
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
          AND d.refclassid = 'pg_class'::regclass)
      SELECT FROM seen JOIN pg_class k ON k.oid = seen.oid WHERE k.relnamespace = 'cabinet'::regnamespace
      UNION ALL
      SELECT FROM seen
      JOIN pg_rewrite w ON w.ev_class = seen.oid
      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
      JOIN pg_proc p ON p.oid = d.refobjid
      WHERE p.pronamespace = 'cabinet'::regnamespace)`

/** $1: the reader's role, $2: the reports' role. Returns one statement per row. */
const GRANTS_TO_MIRROR = `
WITH role AS (
  SELECT reader.oid AS reader, reports.oid AS reports
  FROM pg_roles reader, pg_roles reports WHERE reader.rolname = $1::name AND reports.rolname = $2::name
), schema AS (
  SELECT format('SCHEMA %I', n.nspname) AS object, 'USAGE' AS privilege,
    has_schema_privilege(role.reader, n.oid, 'USAGE') AS wanted,
    EXISTS (SELECT FROM aclexplode(n.nspacl) a WHERE a.grantee = role.reports) AS granted
  FROM pg_namespace n, role
  WHERE n.nspname NOT IN ('cabinet', 'cabinet_search', 'information_schema') AND left(n.nspname, 3) <> 'pg_'
    AND pg_has_role(n.nspowner, 'USAGE')
), relation AS (
  SELECT format('%I.%I', n.nspname, c.relname) AS object, 'SELECT' AS privilege,
    has_table_privilege(role.reader, c.oid, 'SELECT') AND NOT (c.relkind IN ('v', 'm') AND ${SHOWS_OURS}) AS wanted,
    EXISTS (SELECT FROM aclexplode(c.relacl) a WHERE a.grantee = role.reports) AS granted
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, role
  WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
    AND n.nspname NOT IN ('cabinet', 'information_schema') AND left(n.nspname, 3) <> 'pg_'
    AND pg_has_role(c.relowner, 'USAGE')
), later AS (
  SELECT d.defaclrole, d.defaclnamespace, d.defaclobjtype, a.privilege_type,
    bool_or(a.grantee = role.reader) AS wanted, bool_or(a.grantee = role.reports) AS granted
  FROM pg_default_acl d, aclexplode(d.defaclacl) a, role
  WHERE a.grantee IN (role.reader, role.reports) AND d.defaclobjtype IN ('r', 'n')
    AND a.privilege_type IN ('SELECT', 'USAGE') AND pg_has_role(d.defaclrole, 'USAGE')
  GROUP BY 1, 2, 3, 4
), change AS (
  SELECT '' AS prefix, object, privilege, wanted FROM schema WHERE wanted <> granted
  UNION ALL
  SELECT '', object, privilege, wanted FROM relation WHERE wanted <> granted
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I %s ', pg_get_userbyid(defaclrole),
      CASE WHEN defaclnamespace = 0 THEN ''
        ELSE format('IN SCHEMA %I', (SELECT nspname FROM pg_namespace n WHERE n.oid = defaclnamespace)) END),
    CASE defaclobjtype WHEN 'n' THEN 'SCHEMAS' ELSE 'TABLES' END, privilege_type, wanted
  FROM later WHERE wanted <> granted
)
SELECT prefix || CASE WHEN wanted THEN format('GRANT %s ON %s TO %I', privilege, object, $2)
    ELSE format('REVOKE %s ON %s FROM %I', privilege, object, $2) END AS statement
FROM change`

/** Brings the reports' grants in line with the reader's. Does nothing if either role is missing. */
export const mirrorGrants = Effect.fnUntraced(function* (reader: string, reports: string) {
  const sql = yield* PgClient.PgClient
  const statements = yield* sql.unsafe<{ statement: string }>(GRANTS_TO_MIRROR, [reader, reports])
  for (const { statement } of statements) yield* sql.unsafe(statement)
})

/** Repeats grants that another role made to the reader. */
export const repeatReportGrants = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
  const [reader, reports] = [roleName(here!.database, "reader"), roleName(here!.database, "reports")]
  yield* sql.withTransaction(Effect.andThen(sql.unsafe(LOCK_ROLES), mirrorGrants(reader, reports)))
})

/** $1: the reports' role, $2: the reader's. Returns a row if the role has everything that `ensureReports` gives it. */
const REPORTS_ARE_COMPLETE = `
  SELECT FROM pg_roles reports, pg_roles reader
  WHERE reports.rolname = $1::name AND reader.rolname = $2::name AND reports.rolconnlimit > 0
    AND pg_has_role(reports.oid, 'USAGE') AND has_database_privilege(reports.oid, current_database(), 'CONNECT')
    AND (SELECT count(*) FILTER (WHERE a.grantee = reader.oid) = count(*) FILTER (WHERE a.grantee = reports.oid)
         FROM pg_default_acl d, aclexplode(d.defaclacl) a WHERE pg_has_role(d.defaclrole, 'USAGE'))
    AND has_schema_privilege(reports.oid, 'sources', 'USAGE')`

/** Whether this user may add members to the group that the embedded server admits over TCP. $1: its name. */
const MAY_ADMIT = `
  SELECT FROM pg_roles WHERE rolname = $1::name AND pg_has_role(current_user, oid, 'MEMBER WITH ADMIN OPTION')`

/** Runs a statement that is optional and that this user may lack the right for. */
const ifAllowed = (statement: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql.withTransaction(sql.unsafe(statement))).pipe(
    Effect.asVoid,
    Effect.catchIf(
      (error: SqlError.SqlError) => sqlState(error) === "42501",
      () => Effect.void,
    ),
  )

/** Creates the role if it is missing and this user may; it gets its privileges, but cannot log in yet. */
export const ensureReports = Effect.fnUntraced(function* (reader: string) {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
  const reports = roleName(here!.database, "reports")
  const complete = yield* sql.unsafe(REPORTS_ARE_COMPLETE, [reports, reader])
  if (complete.length === 1) return
  const name = quoteName(reports)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(LOCK_ROLES)
      const [exists] = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${reports}`
      if (exists === undefined) {
        yield* sql.unsafe(`CREATE ROLE ${name} NOLOGIN NOINHERIT CONNECTION LIMIT ${REPORTS_SESSIONS}`)
      } else {
        yield* ifAllowed(`ALTER ROLE ${name} CONNECTION LIMIT ${REPORTS_SESSIONS}`)
      }
      // So the owner can terminate its sessions.
      yield* ifAllowed(`GRANT ${name} TO CURRENT_USER`)
      const [admits] = yield* sql.unsafe<object>(MAY_ADMIT, [REPORTS_GROUP])
      if (admits !== undefined) yield* ifAllowed(`GRANT ${REPORTS_GROUP} TO ${name}`)
      yield* ifAllowed(`ALTER ROLE ${name} SET temp_file_limit = '${TEMP_FILES}'`)
      yield* sql.unsafe(`GRANT CONNECT ON DATABASE ${quoteName(here!.database)} TO ${name}`)
      yield* mirrorGrants(reader, reports)
    }),
  )
}, connectionLossAsError)
