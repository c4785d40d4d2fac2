/**
 * The author's login. PostgreSQL lets every role change its own password, and a customer's script runs as the author:
 * it could lock the service out, or keep access for itself. So the login is valid for a minute at a time: before each
 * session the owner sets the stored password and its expiry, and the role itself can extend neither.
 */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { short } from "../connection/SessionSettings.ts"
import { passwordLiteral, withPasswordForm } from "./PasswordForm.ts"

/** More than one cabinet's scripts need at once, and few enough to leave the server's connections to others. */
export const AUTHOR_SESSIONS = 20

/**
 * Only one session at a time changes roles, grants and default privileges: PostgreSQL rejects concurrent changes of the same
 * one ("tuple concurrently updated").
 */
export const LOCK_ROLES = "SELECT FROM cabinet.job_lock WHERE name = 'roles' FOR UPDATE"

/** For CREATE ROLE and ALTER ROLE, by the database's clock. */
export const validForAMinute = PgClient.PgClient.use((sql) =>
  Effect.map(
    sql<{ until: string }>`SELECT (clock_timestamp() + interval '1 minute')::text AS until`,
    ([row]) => ` VALID UNTIL '${row!.until}'`,
  ),
)

/** Admits a session of the author that is opened within the next minute. */
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
