/**
 * The author's login. PostgreSQL lets every role change its own password, and customers' scripts run as the author.
 * A script could lock the service out, or keep access for itself. So the login is valid for only a minute: before each
 * session the owner sets the password and its expiry, and the role cannot extend either.
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "./SessionPool.ts"
import { short } from "./SessionSettings.ts"
import { passwordLiteral, withPasswordForm } from "./PasswordForm.ts"

/** More than the scripts of one cabinet need at the same time, yet few enough to leave connections for others. */
export const AUTHOR_SESSIONS = 20

/**
 * Lets one session at a time change roles, grants and default privileges: PostgreSQL rejects concurrent changes to the same
 * object ("tuple concurrently updated").
 */
export const LOCK_ROLES = "SELECT FROM cabinet.job_lock WHERE name = 'roles' FOR UPDATE"

/** The expiry for CREATE ROLE and ALTER ROLE, on the database's clock. */
export const validForAMinute = PgClient.PgClient.use((sql) =>
  Effect.map(
    sql<{ until: string }>`SELECT (clock_timestamp() + interval '1 minute')::text AS until`,
    ([row]) => ` VALID UNTIL '${row!.until}'`,
  ),
)

/** Lets the author open a session within the next minute. */
export const allowAuthorLogin = (url: string, ownerUrl: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { username, password } = new URL(url)
    const role = quoteName(decodeURIComponent(username))
    yield* withPasswordForm(ownerUrl, (form) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(LOCK_ROLES)
          const literal = passwordLiteral(form, decodeURIComponent(password))
          yield* sql.unsafe(`ALTER ROLE ${role} PASSWORD ${literal}${yield* validForAMinute}`)
        }),
      ),
    )
  }).pipe(
    Effect.provide(
      SessionPool.layer({
        url: ownerUrl,
        maxConnections: 1,
        connectTimeout: "5 seconds",
        applicationName: "data-cabinet author login",
        settings: short(5_000),
      }),
      { local: true },
    ),
  )
