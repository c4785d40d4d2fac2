/**
 * The driver's options for a database URL. Options that depend on the server in use are read at each connection
 * attempt, so the route must be known before. With several hosts, or with sslmode prefer or allow, finding it takes a
 * probe.
 */
import type { PgPool } from "@effect/sql-pg"
import { Effect, Redacted, Result } from "effect"
import { SqlError } from "effect/sql"
import { forHost, tlsOptions } from "./DatabaseUrlTls.ts"
import { type DatabaseUrl, parseDatabaseUrl } from "./DatabaseUrl.ts"
import { type Login, settle } from "./HostProbe.ts"
import { routeOf, type ServerRoute } from "./ServerRoute.ts"

const refused = (message: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation: "connect" }),
  })

export interface Connection {
  readonly parsed: DatabaseUrl
  readonly route: ServerRoute
  /** Finds the server to use, unless it is known. Never fails: the next connection attempt does. */
  readonly settled: Effect.Effect<void>
  /** How long an attempt to open a session may take, in milliseconds. */
  readonly connectMillis: number
  /** The driver's options, which must not be copied; `set` is sent when a session is opened. */
  readonly config: (set: Readonly<Record<string, string>>) => PgPool.Config
}

/**
 * A URL that cannot be honoured, or that names an unreadable file, fails like a connection that cannot be opened, but
 * before a connection is attempted. `connectMillis` is the time limit for connecting to one host, unless the URL sets
 * one.
 */
export const connectionOf = (text: string, connectMillis = 5_000): Effect.Effect<Connection, SqlError.SqlError> =>
  Effect.suspend(() => {
    const read = parseDatabaseUrl(text)
    if (Result.isFailure(read)) return Effect.fail(refused(`The database URL must be ${read.failure}`))
    const parsed = read.success
    const { user, password, database } = parsed.uri
    const route = routeOf(parsed)
    return Effect.try({
      try: (): Connection => {
        const tls = tlsOptions(parsed.encryption)
        const login: Login = {
          username: user,
          database,
          password: password === undefined ? undefined : Redacted.make(password),
          connectTimeout: parsed.connectSeconds === null ? connectMillis : parsed.connectSeconds * 1000,
        }
        const probe = settle(route, login, tls)
        const settled = Effect.suspend(() => (route.isSettled ? Effect.void : probe))
        const config = (set: Readonly<Record<string, string>>): PgPool.Config => ({
          ...login,
          stream: () => route.open(),
          get host() {
            return route.server.host
          },
          get port() {
            return route.server.port
          },
          get ssl() {
            return tls === false || !route.encrypts ? false : forHost(tls, route.server.host)
          },
          get startupParameters() {
            return route.refusesStartup ? {} : set
          },
        })
        return { parsed, route, settled, connectMillis: login.connectTimeout, config }
      },
      catch: (cause) => refused(cause instanceof Error ? cause.message : "unknown"),
    })
  })
