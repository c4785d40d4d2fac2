/** The role for reports (see ReportsRole): whether it can log in, and since when its password is valid. */
import { randomBytes } from "node:crypto"
import {
  type LoginOutcome,
  type ReportLoginState,
  ReportLoginStore,
  type RightBeyondReading,
} from "@data-cabinet/core/row/ReportLoginStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { LOCK_ROLES } from "../connection/AuthorLogin.ts"
import { passwordLiteral, withPasswordForm } from "../connection/PasswordForm.ts"
import { ensureReports, mirrorGrants, REPORTS_SESSIONS } from "../migrations/ReportsRole.ts"
import { RIGHTS_BEYOND_READING } from "./ReportLoginStatement.ts"
import { roleName } from "../migrations/RoleLogins.ts"

interface Here {
  readonly database: string
  readonly owner: string
  readonly addresses: string
  readonly port: number
}

const HERE = `
SELECT current_database()::text AS database, current_user::text AS owner, current_setting('listen_addresses') AS addresses,
  current_setting('port')::int4 AS port`

/** $1: the role. */
const STATE = `
SELECT r.rolcanlogin AS active,
  (SELECT count(*)::int4 FROM pg_stat_activity a WHERE a.usesysid = r.oid) AS sessions
FROM pg_roles r WHERE r.rolname = $1::name`

const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1::name`

/** Parameters of a URL that also apply on another machine. */
const PORTABLE = new Set(["sslmode"])

/** The URL that the role connects to, without a password; null if the server listens only on a local socket. */
export const urlOf = (
  ownerUrl: string,
  role: string,
  { addresses, port }: Pick<Here, "addresses" | "port">,
): string | null => {
  const url = new URL(ownerUrl)
  const socket = url.searchParams.get("host")
  url.username = encodeURIComponent(role)
  url.password = ""
  url.search = new URLSearchParams([...url.searchParams].filter(([name]) => PORTABLE.has(name))).toString()
  if (socket?.startsWith("/") !== true) return url.toString()
  if (addresses.trim() === "") return null
  url.hostname = "127.0.0.1"
  url.port = String(port)
  return url.toString()
}

const here = (url: string) =>
  Effect.map(
    PgClient.PgClient.use((sql) => sql.unsafe<Here>(HERE)),
    ([row]) => {
      const role = roleName(row!.database, "reports")
      return { role, owner: row!.owner, url: urlOf(url, role, row!) }
    },
  )

const stateOf = (ownerUrl: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { role, url } = yield* here(ownerUrl)
    const [found] = yield* sql.unsafe<{ active: boolean; sessions: number }>(STATE, [role])
    const beyond = found === undefined ? [] : yield* sql.unsafe<RightBeyondReading>(RIGHTS_BEYOND_READING, [role])
    const { active = false, sessions = 0 } = found ?? {}
    const state: ReportLoginState = { role, active, url, sessions, maxSessions: REPORTS_SESSIONS, beyond }
    return state
  })

/** The refusal with the SQL for an administrator, if this user may not run it; `change` follows ALTER ROLE. */
const denied = (ownerUrl: string, change: string) =>
  Effect.fnUntraced(function* (error: SqlError.SqlError) {
    const { role, owner } = yield* here(ownerUrl)
    const name = quoteName(role)
    const outcome: LoginOutcome<never> = {
      is: "denied",
      detail: sqlMessage(error),
      statements: [
        `CREATE ROLE ${name} NOINHERIT CONNECTION LIMIT ${REPORTS_SESSIONS} (unless it exists)`,
        `ALTER ROLE ${name} ${change}`,
        `GRANT ${name} TO ${quoteName(owner)}`,
      ],
    }
    return outcome
  })

const isDenied = (error: SqlError.SqlError) => sqlState(error) === "42501"

const issue = Effect.fnUntraced(function* (ownerUrl: string, reader: string) {
  const sql = yield* PgClient.PgClient
  const known = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${reader}`
  if (known.length === 0) return { is: "no_reader", role: reader } as const
  const { role } = yield* here(ownerUrl)
  const password = randomBytes(24).toString("base64url")
  yield* ensureReports(reader)
  yield* withPasswordForm(ownerUrl, (form) => {
    const change = `LOGIN NOINHERIT PASSWORD ${passwordLiteral(form, password)} CONNECTION LIMIT ${REPORTS_SESSIONS}`
    const statements = Effect.andThen(sql.unsafe(LOCK_ROLES), sql.unsafe(`ALTER ROLE ${quoteName(role)} ${change}`))
    return sql.withTransaction(Effect.andThen(statements, mirrorGrants(reader, role)))
  })
  yield* sql.unsafe(END_SESSIONS, [role])
  return { is: "done", value: { password } } as const
})

const revoke = Effect.fnUntraced(function* (ownerUrl: string) {
  const sql = yield* PgClient.PgClient
  const { role } = yield* here(ownerUrl)
  const known = yield* sql.unsafe(STATE, [role])
  if (known.length > 0) {
    const closed = sql.unsafe(`ALTER ROLE ${quoteName(role)} NOLOGIN PASSWORD NULL`)
    yield* sql.withTransaction(Effect.andThen(sql.unsafe(LOCK_ROLES), closed))
    yield* sql.unsafe(END_SESSIONS, [role])
  }
  return { is: "done", value: null } as const
})

export const layer = ({ url }: { readonly url: string }) =>
  Layer.effect(
    ReportLoginStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { role: reader } = yield* ReaderClient
      const stored = <A>(work: Effect.Effect<A, SqlError.SqlError, PgClient.PgClient>) =>
        orUnavailable(Effect.provideService(work, PgClient.PgClient, sql))
      return ReportLoginStore.of({
        read: stored(stateOf(url)),
        issue: stored(Effect.catchIf(issue(url, reader), isDenied, denied(url, "LOGIN PASSWORD '…'"))),
        revoke: stored(Effect.catchIf(revoke(url), isDenied, denied(url, "NOLOGIN"))),
      })
    }),
  )
