/**
 * The login roles other than the owner. The reader may only select, and does not see schema `cabinet`. The author creates
 * tables and views in `public` and in schemas that were added for it. The reports' role gives other programs the reader's
 * access (see ReportsRole). If this user may not create roles, an administrator runs the SQL, or existing roles are configured.
 *
 * Nearly every start finds the roles as the previous one left them. This is checked first, because repairing them takes
 * some forty statements.
 */
import { randomBytes } from "node:crypto"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { failureReport } from "../connection/FailureWords.ts"
import { connectionLossAsError, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { AUTHOR_SESSIONS, LOCK_ROLES, validForAMinute } from "../connection/AuthorLogin.ts"
import { closeDatabase } from "./CloseDatabase.ts"
import { MOST_READER_SESSIONS, RIGHTS_ARE_COMPLETE } from "./RightsStatement.ts"
import { ensureReports } from "./ReportsRole.ts"
import { grantAuthor, grantReader } from "./RoleGrants.ts"
import { type PasswordForm, passwordLiteral, withPasswordForm } from "../connection/PasswordForm.ts"
import {
  type RoleKind,
  type RoleLogin,
  knowsPassword,
  letsIn,
  login,
  ownLogin,
  session,
  userOf,
  withLogin,
  roleName,
} from "./RoleLogins.ts"

export interface Roles {
  readonly reader: RoleLogin
  readonly author: RoleLogin
  /**
   * The SQL for an administrator if the user may not create the missing roles, on one line; null if none is missing.
   */
  readonly administratorSql: string | null
}

export interface RolesOptions {
  /** The owner's connection URL, from which those of the roles are derived. */
  readonly url: string
  /** Addresses of existing roles, if this user may not create any. */
  readonly readerUrl?: string | undefined
  readonly authorUrl?: string | undefined
}

/** Both roles if they have all their privileges and PostgreSQL accepts the stored passwords; otherwise null. */
const rolesAsLeft = Effect.fnUntraced(function* ({ url, readerUrl, authorUrl }: RolesOptions) {
  const sql = yield* PgClient.PgClient
  if (readerUrl !== undefined || authorUrl !== undefined) return null
  const kept = yield* sql<{ database: string; role: string; password: string }>`
    SELECT current_database()::text AS database, role, password FROM cabinet.role_password`
  const keptLogin = (kind: RoleKind) => {
    const found = kept.find(({ database, role }) => role === roleName(database, kind))
    return found === undefined ? null : ownLogin(kind, url, found.role, found.password)
  }
  const reader = keptLogin("reader")
  const author = keptLogin("author")
  if (reader === null || author === null) return null
  // The author's password is set before each use.
  const [stand, reads] = yield* Effect.all(
    [sql.unsafe(RIGHTS_ARE_COMPLETE, [reader.role, author.role]), letsIn(reader.url)],
    {
      concurrency: "unbounded",
    },
  )
  if (stand.length === 0 || !reads) return null
  const { alters } = stand[0] as { readonly alters: boolean }
  return { reader, author: alters ? author : login(author.role, author.url), administratorSql: null }
}, connectionLossAsError)

/** Creates missing roles and repairs privileges; safe to repeat and to run concurrently. */
export const ensureRoles = Effect.fnUntraced(function* (
  options: RolesOptions,
): Effect.fn.Return<Roles, SqlError.SqlError, PgClient.PgClient> {
  const roles =
    (yield* rolesAsLeft(options)) ?? (yield* withPasswordForm(options.url, (form) => putRight(options, form)))
  // Nobody needs the reports' role before requesting its login; the response then says why it does not exist.
  if (roles.reader.there) yield* Effect.catchIf(ensureReports(roles.reader.role), isDenied, () => Effect.void)
  return roles
})

const isDenied = (error: SqlError.SqlError): boolean => sqlState(error) === "42501"

interface WantedRole {
  readonly kind: RoleKind
  readonly role: string
  readonly form: PasswordForm
  /** The owner's connection address. */
  readonly url: string
  readonly owner: string
  /** How many sessions it may have. */
  readonly sessions: number
}

/**
 * The role, if an administrator has created it with our SQL; otherwise that SQL. The password is stored at the first
 * attempt, so that the role works with whichever printed SQL the administrator runs.
 */
const administratorsRole = Effect.fnUntraced(function* ({ kind, role, form, url, owner, sessions }: WantedRole) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO cabinet.role_password (role, password) VALUES (${role}, ${randomBytes(24).toString("base64url")})
    ON CONFLICT (role) DO NOTHING`
  const [kept] = yield* sql<{ password: string; exists: boolean }>`
    SELECT password, EXISTS (SELECT FROM pg_roles WHERE rolname = role) AS exists
    FROM cabinet.role_password WHERE role = ${role}`
  const { password, exists } = kept!
  const own = withLogin(url, role, password)
  if (exists && (yield* knowsPassword(own))) return login(role, own)
  const verb = exists ? "ALTER" : "CREATE"
  const bounds = ` CONNECTION LIMIT ${sessions}${kind === "author" ? " VALID UNTIL 'infinity'" : ""}`
  const literal = passwordLiteral(form, password)
  return `${verb} ROLE ${quoteName(role)} LOGIN NOINHERIT PASSWORD ${literal}${bounds}; GRANT ${quoteName(role)} TO ${quoteName(owner)};`
})

const putRight = Effect.fnUntraced(function* (
  options: RolesOptions,
  form: PasswordForm,
): Effect.fn.Return<Roles, SqlError.SqlError, PgClient.PgClient> {
  const sql = yield* PgClient.PgClient
  const run = (statement: string) => sql.unsafe(statement)
  const [here] = yield* sql.unsafe<{ database: string; owner: string; most_readers: number }>(
    `SELECT current_database()::text AS database, current_user::text AS owner, ${MOST_READER_SESSIONS} AS most_readers`,
  )
  const database = here!.database

  const ensureRole = (kind: RoleKind, given: string | undefined) =>
    Effect.gen(function* () {
      if (given !== undefined) return login(userOf(given), given)
      const role = roleName(database, kind)
      const [known] = yield* sql<{ password: string }>`SELECT password FROM cabinet.role_password WHERE role = ${role}`
      const [exists] = yield* sql<{ one: number }>`SELECT 1 AS one FROM pg_roles WHERE rolname = ${role}`
      const password = known?.password ?? randomBytes(24).toString("base64url")
      // An existing role gets it as well: after a restore its password may differ from the one in the database.
      const verb = exists === undefined ? "CREATE" : "ALTER"
      const bounds =
        kind === "author"
          ? ` CONNECTION LIMIT ${AUTHOR_SESSIONS}${yield* validForAMinute}`
          : ` CONNECTION LIMIT ${here!.most_readers}`
      yield* run(`${verb} ROLE ${quoteName(role)} LOGIN NOINHERIT PASSWORD ${passwordLiteral(form, password)}${bounds}`)
      if (known === undefined) {
        yield* sql`INSERT INTO cabinet.role_password (role, password) VALUES (${role}, ${password})`
      }
      // So the owner can alter the author's tables and terminate the reader's sessions.
      yield* run(`GRANT ${quoteName(role)} TO ${quoteName(here!.owner)}`)
      return ownLogin(kind, options.url, role, password)
    })

  const statements: Array<string> = []

  const roleOrReason = (kind: RoleKind, given: string | undefined, setting: string, off: string) =>
    sql.withTransaction(ensureRole(kind, given)).pipe(
      Effect.catchTag(
        "SqlError",
        Effect.fnUntraced(function* (error) {
          if (sqlState(error) !== "42501") return yield* Effect.fail(error)
          const role = roleName(database, kind)
          const sessions = kind === "author" ? AUTHOR_SESSIONS : here!.most_readers
          const made = yield* administratorsRole({ kind, role, form, url: options.url, owner: here!.owner, sessions })
          if (typeof made !== "string") return made
          statements.push(made)
          const reason = `${off}: the database user ${here!.owner} may not create the role ${role} (${sqlMessage(error)}). An administrator can: cabinet migrate prints the SQL. Or grant the user CREATEROLE, or put the URL of a role of your own into ${setting}.`
          return { there: false as const, role, reason }
        }),
      ),
    )

  const work = Effect.gen(function* () {
    yield* sql.unsafe(LOCK_ROLES)
    yield* closeDatabase
    const reader = yield* roleOrReason("reader", options.readerUrl, "DATABASE_READER_URL", "Reading is off")
    const author = yield* roleOrReason("author", options.authorUrl, "DATABASE_AUTHOR_URL", "`cabinet sql` is off")
    if (reader.there) yield* grantReader(database, reader.role)
    if (author.there) yield* grantAuthor(database, author.role)
    return { reader, author, administratorSql: statements.length === 0 ? null : statements.join(" ") }
  })
  const roles = yield* connectionLossAsError(sql.withTransaction(work))
  const { reader, author } = roles
  if (reader.there && author.there) {
    // The author can log in only after the commit, which releases the lock: another start may take it, so it is taken again.
    const opened = Effect.andThen(sql.unsafe(LOCK_ROLES), openAuthorsWork(author.url, reader.role))
    yield* connectionLossAsError(sql.withTransaction(opened))
  }
  return roles
})

/**
 * Lets the reader read the author's future objects. It runs as the author, because these are the author's default
 * privileges, while the owner's session holds the lock on roles.
 */
const openAuthorsWork = (authorUrl: string, reader: string) =>
  Effect.gen(function* () {
    const author = yield* PgClient.PgClient
    const name = quoteName(reader)
    yield* author.unsafe(`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${name}`)
    yield* author.unsafe(`ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO ${name}`)
  }).pipe(
    Effect.provide(session(authorUrl), { local: true }),
    Effect.scoped,
    // The configured URL may be unreachable from this machine. Any other failure would leave the author's tables unreadable.
    Effect.catchTag("SqlError", (error) =>
      error.reason.operation === "connect"
        ? Effect.logWarning(
            `the author's future objects cannot be opened to the reader, because the author cannot connect: ${failureReport(error)}`,
          )
        : Effect.fail(error),
    ),
  )
