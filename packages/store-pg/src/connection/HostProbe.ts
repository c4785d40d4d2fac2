/**
 * Finds the server of a database URL to use, by connecting to each with the settings that a session needs. It also
 * determines whether to use TLS, if the URL leaves that open, and whether a pooler in between refuses settings when a
 * session opens. libpq does this for each connection; here it happens once per process.
 *
 * One difference from libpq: our sessions are never read-only because of a server default, so `read-write`
 * is `primary`, and `read-only` is `standby`.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, type Redacted, Result, type Scope } from "effect"
import { SqlError } from "effect/sql"
import type { ConnectionOptions } from "node:tls"
import { forHost } from "./DatabaseUrlTls.ts"
import { openSocket, type ServerRoute } from "./ServerRoute.ts"
import { ownerShared } from "./SessionSettings.ts"
import { sqlMessage, sqlState } from "./SqlState.ts"

export interface Login {
  readonly username: string | undefined
  readonly database: string | undefined
  readonly password: Redacted.Redacted | undefined
  /** Milliseconds, for one server. */
  readonly connectTimeout: number
}

/** How a server is spoken to. */
interface Manner {
  readonly encrypts: boolean
  readonly refusesStartup: boolean
}

interface Found extends Manner {
  readonly index: number
  readonly isStandby: boolean
}

/** No server of a list can be used. `isTemporary` if that is likely to pass. */
export class NoServerFits extends Error {
  override readonly name = "NoServerFits"
}

const PROBE = "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.pg_backend_pid()"

/** A pooler may give each transaction to another session of PostgreSQL, so our sessions would keep no state. */
export class TransactionPooling extends Error {
  override readonly name = "TransactionPooling"
  constructor() {
    super(
      "the connection pooler uses transaction pooling, but a cabinet's sessions use LISTEN and session settings: use session pooling (PgBouncer: pool_mode = session), or connect to PostgreSQL directly",
    )
  }
}

/**
 * How often two sessions of a pooler are compared: a pooler that rotates its connections shows itself within two
 * rounds.
 */
const COMPARED_ROUNDS = 6

/** How long a comparison waits for a pooler that has no second connection left, which transaction pooling would have. */
const SECOND_SESSION_TIMEOUT = "2 seconds"

/** The names of all settings that our sessions send when they open; a pooler that refuses one refuses the session. */
const SENT = { ...ownerShared.set, application_name: "data-cabinet probe" }

const isRefusedStartup = (error: SqlError.SqlError): boolean =>
  /unsupported startup parameter/i.test(sqlMessage(error)) && sqlState(error)?.startsWith("08") === true

/** The next manner to try after this failure, as libpq would; null after the last. */
const nextManner = (mode: ServerRoute["mode"], tried: Manner, error: SqlError.SqlError): Manner | null => {
  if (isRefusedStartup(error) && !tried.refusesStartup) return { ...tried, refusesStartup: true }
  const isRefused = sqlState(error) === "28000"
  const hasNoTls = /does not support TLS/.test(sqlMessage(error))
  if (mode === "prefer" && tried.encrypts && (hasNoTls || isRefused)) return { ...tried, encrypts: false }
  if (mode === "allow" && !tried.encrypts && isRefused) return { ...tried, encrypts: true }
  return null
}

const probeServer = Effect.fnUntraced(function* (
  route: ServerRoute,
  login: Login,
  tls: false | ConnectionOptions,
  index: number,
): Effect.fn.Return<Found, SqlError.SqlError> {
  const server = route.servers[index]!
  const connect = ({ encrypts, refusesStartup }: Manner) =>
    PgConnection.make({
      ...login,
      ...server,
      ssl: encrypts && tls !== false ? forHost(tls, server.host) : false,
      startupParameters: refusesStartup ? {} : SENT,
      stream: () => openSocket(server),
    })
  const attempt = (manner: Manner) =>
    Effect.scoped(
      Effect.gen(function* () {
        const session = yield* connect(manner)
        const rows = yield* Effect.timeoutOrElse(session.queryValues(PROBE, [], false), {
          duration: login.connectTimeout,
          orElse: () => Effect.fail(failure(new Error("it does not respond"))),
        })
        const [isStandby, pid] = rows[0] as readonly [boolean, number]
        // A pooler reports process ids of its own.
        if (pid !== session.processId && (yield* sharesBackends(session, connect(manner)))) {
          return yield* Effect.fail(failure(new TransactionPooling()))
        }
        return { index, isStandby, ...manner }
      }),
    )
  const from = (manner: Manner): Effect.Effect<Found, SqlError.SqlError> =>
    Effect.catchTag(attempt(manner), "SqlError", (error) => {
      const next = nextManner(route.mode, manner, error)
      return next === null ? Effect.fail(error) : from(next)
    })
  return yield* from({ encrypts: route.mode !== "disable" && route.mode !== "allow", refusesStartup: false })
})

const failure = (cause: Error) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "connect" }),
  })

const BACKEND = "SELECT pg_catalog.pg_backend_pid()"

/** Whether the backend of a session changes, or also serves another open session. */
const sharesBackends = (
  one: PgConnection.PgConnection,
  connecting: Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>,
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const other = yield* connecting
      const backend = (session: PgConnection.PgConnection) =>
        Effect.map(session.queryValues(BACKEND, [], false), ([row]) => row![0])
      const [mine, its] = [yield* backend(one), yield* backend(other)]
      for (let round = 0; round < COMPARED_ROUNDS; round++) {
        if (mine === its || (yield* backend(one)) !== mine || (yield* backend(other)) !== its) return true
      }
      return false
    }),
  ).pipe(Effect.timeoutOrElse({ duration: SECOND_SESSION_TIMEOUT, orElse: () => Effect.succeed(false) }))

/**
 * As in libpq: a server that refuses the login ends the search, but one that is down, starting or of the other kind
 * does not.
 */
const endsSearch = (error: SqlError.SqlError): boolean => {
  if (error.reason.cause instanceof TransactionPooling) return true
  const state = sqlState(error)
  return state !== undefined && !state.startsWith("57P") && !state.startsWith("08")
}

const causeOf = (error: SqlError.SqlError): Error => {
  const { cause } = error.reason
  if (cause instanceof Error) return cause
  return Object.assign(new Error(sqlMessage(error)), typeof cause === "object" ? cause : {})
}

type Verdict = Result.Result<Found, SqlError.SqlError>

const WANTED: Readonly<Record<ServerRoute["attributes"], (found: Found) => boolean>> = {
  any: () => true,
  "read-write": ({ isStandby }) => !isStandby,
  primary: ({ isStandby }) => !isStandby,
  "read-only": ({ isStandby }) => isStandby,
  standby: ({ isStandby }) => isStandby,
  "prefer-standby": ({ isStandby }) => isStandby,
}

/**
 * The order of the search: the server in use first, because it is usually still the right one; last if it did not
 * respond.
 */
const inOrder = ({ servers, current, isDoubted }: ServerRoute): ReadonlyArray<number> => {
  const others = servers.map((_, index) => index).filter((index) => index !== current)
  return isDoubted ? [...others, current] : [current, ...others]
}

const nobody = ({ servers }: ServerRoute, verdicts: ReadonlyArray<readonly [number, Verdict]>): Error => {
  const each = verdicts.map(([index, verdict]) => {
    const { host, port } = servers[index]!
    const why = Result.match(verdict, {
      onFailure: sqlMessage,
      onSuccess: ({ isStandby }) => (isStandby ? "it is a standby" : "it is a primary"),
    })
    return `${host}:${port}: ${why}`
  })
  return new NoServerFits(`none of the servers can be used: ${each.join("; ")}`)
}

const search = Effect.fnUntraced(function* (route: ServerRoute, login: Login, tls: false | ConnectionOptions) {
  const verdicts: Array<readonly [number, Verdict]> = []
  const isWanted = WANTED[route.attributes]
  for (const index of inOrder(route)) {
    const verdict = yield* Effect.result(probeServer(route, login, tls, index))
    if (Result.isSuccess(verdict) && isWanted(verdict.success)) return verdict.success
    if (Result.isFailure(verdict) && (route.servers.length === 1 || endsSearch(verdict.failure))) {
      return causeOf(verdict.failure)
    }
    verdicts.push([index, verdict])
  }
  const other = verdicts.find(([, verdict]) => Result.isSuccess(verdict))?.[1]
  if (route.attributes === "prefer-standby" && other !== undefined) return Result.getOrThrow(other)
  return nobody(route, verdicts)
})

/** Finds the server to use and how to speak to it, or why none is usable; concurrent callers share one search. */
export const settle = (route: ServerRoute, login: Login, tls: false | ConnectionOptions): Effect.Effect<void> =>
  Effect.suspend(() => {
    const seen = route.probes
    return route.probing.withPermits(1)(
      Effect.suspend(() => {
        if (route.isSettled || route.probes !== seen) return Effect.void
        return Effect.map(search(route, login, tls), (found) => {
          route.probes++
          if (found instanceof Error) {
            route.failure = found
            return
          }
          route.encrypts = found.encrypts
          route.refusesStartup = found.refusesStartup
          route.accept(found.index)
        })
      }),
    )
  })
