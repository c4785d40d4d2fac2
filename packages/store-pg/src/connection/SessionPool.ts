/**
 * Every pool of sessions is opened here, so that the URL is honoured alike for all of them, and no session is used
 * without the settings that its kind requires. The driver's own pool has no hook between opening a session and its
 * first use, so this is a separate client over the driver's sessions.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Context, Duration, Effect, Option, RcRef, Scope } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { type Connection, connectionOf } from "./Connection.ts"
import type { ConnectionShare } from "./ConnectionShare.ts"
import { checkSession } from "./SessionCheck.ts"
import type { SessionAttributes } from "./DatabaseUrlParameters.ts"
import { notInherited } from "./InheritedAttempt.ts"
import { sessionLeases } from "./SessionLeases.ts"
import { sessionName } from "./SessionGroup.ts"
import type { SessionSettings } from "./SessionSettings.ts"
import { SharedChecks } from "./SharedChecks.ts"
import { releasedOnFailure, replacingUnfit } from "./ReplacedSession.ts"
import { StatementSession } from "./StatementSession.ts"
import { lookedAfter, type Overdue, Uncancelled } from "./Uncancelled.ts"
import { watchCommits } from "./UnconfirmedCommit.ts"
import { decrypted } from "./Wire.ts"
import type { Wires, WireSession } from "./Wires.ts"

export interface SessionPoolOptions extends Pick<
  PgPool.Config,
  "applicationName" | "connectTimeout" | "idleTimeout" | "maxConnections" | "multiplex" | "stream" | "types"
> {
  readonly url: string
  readonly settings: SessionSettings
  /** The pool's connections, if they are also read without the driver; `stream` is then theirs. */
  readonly wires?: Wires
  /** Given if the statements of the client are never cancelled (see Uncancelled). */
  readonly overdue?: Overdue
  /** Whether its connections are counted in the process's share of the server: an idle one is given to other pools. */
  readonly isCounted?: boolean
  /** Called when a commit in this pool became visible before a standby had it; unused with `wires`. */
  readonly unconfirmed?: () => void
}

/** PostgreSQL responds with ROLLBACK to the COMMIT of a failed transaction. */
const commit = (connection: SqlConnection.Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    (result as PgConnection.Result).command === "ROLLBACK" ? Effect.fail(rolledBack()) : Effect.void,
  )

const rolledBack = () => {
  const message = "The transaction had failed before its commit, and was rolled back."
  return new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" }),
  })
}

/** Whole sessions, lent for the duration of their work. */
export interface LentSessions {
  /**
   * `settingsAreLoose`: DISCARD ALL would undo settings that the session needs, so the session has to be closed
   * instead.
   */
  readonly use: <A, E>(
    work: (session: PgConnection.PgConnection, settingsAreLoose: boolean) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | SqlError.SqlError>
  /** Marks a lent session to be closed when it is returned. */
  readonly invalidate: (session: PgConnection.PgConnection) => Effect.Effect<void>
  /** The process's share of the server: the pool's idle sessions are released when another pool needs them. */
  readonly share: ConnectionShare
  /** The connection of a lent session, to be read without the driver; undefined if it is not known. */
  readonly wireOf: (session: PgConnection.PgConnection) => WireSession | undefined
}

/** For callers that must know which session did what: no statement of one is pipelined with another's. */
export const lentSessions = (
  options: SessionPoolOptions,
): Effect.Effect<LentSessions, SqlError.SqlError, Scope.Scope> =>
  Effect.map(open(options), ({ pool, use, share }) => ({
    share,
    use: (work) => use((session, connection) => work(connection, session.settingsAreLoose)),
    invalidate: (session) => pool.invalidate(session),
    wireOf: (session) => options.wires?.of(session),
  }))

/** The driver's options for a pool, from those of its connections, which are read at each attempt. */
const poolConfig = (
  { stream, wires, unconfirmed, ...options }: Omit<SessionPoolOptions, "url" | "settings">,
  { config: configOf }: Connection,
  set: SessionSettings["set"],
): PgPool.Config => {
  const config = Object.defineProperties<PgPool.Config>(configOf(set), Object.getOwnPropertyDescriptors(options))
  if (stream !== undefined) Object.defineProperty(config, "stream", { value: stream })
  if (wires !== undefined) {
    // The driver gets the decrypted stream, and negotiates no TLS itself.
    const own = configOf(set)
    Object.defineProperties(config, { stream: { value: wires.stream(() => own.ssl) }, ssl: { value: false } })
  } else if (unconfirmed !== undefined && stream !== undefined) {
    const own = configOf(set)
    const watched = () => watchCommits(decrypted(stream(), own.ssl), unconfirmed)
    Object.defineProperties(config, { stream: { value: watched }, ssl: { value: false } })
  }
  return config
}

/** Counts the connections that are opened by this configuration. */
const countOpened = (config: PgPool.Config): (() => number) => {
  const { stream } = config
  let opened = 0
  const counted = () => {
    opened++
    return stream!()
  }
  Object.defineProperty(config, "stream", { value: counted })
  return () => opened
}

const open = Effect.fnUntraced(function* (given: SessionPoolOptions) {
  const { url, settings: kind, applicationName, overdue, isCounted, connectTimeout = "5 seconds", ...options } = given
  const limit = Option.map(Duration.fromInput(connectTimeout), Duration.toMillis)
  const database = yield* connectionOf(url, Option.getOrUndefined(limit))
  const { parsed, route, settled, connectMillis } = database
  const name = applicationName === undefined ? undefined : sessionName(parsed.applicationName, applicationName)
  // Sessions are looked up by their names, so these are verified like other settings.
  const set = name === undefined ? kind.set : { ...kind.set, application_name: name }
  const settings: SessionSettings = {
    ...kind,
    set,
    found: { ...kind.found, ...FITS[route.attributes] },
    more: parsed.options,
  }
  const config = poolConfig(options, database, set)
  const opened = countOpened(config)
  const pool = yield* PgPool.make(config)
  const checked = new WeakMap<PgConnection.PgConnection, StatementSession>()
  const checks = new SharedChecks()
  /** The key by which a statement finds its transaction; undefined until there is a client. */
  const transaction: { key?: SqlClient.SqlClient["transactionService"] } = {}
  const isInTransaction = (context: Context.Context<never>) =>
    transaction.key !== undefined && Option.isSome(Context.getOption(context, transaction.key))
  const uncancelled = (connection: PgConnection.PgConnection) =>
    overdue === undefined ? undefined : new Uncancelled(pool.invalidate(connection), overdue, isInTransaction)

  const check = (connection: PgConnection.PgConnection): Effect.Effect<StatementSession, SqlError.SqlError> => {
    const known = checked.get(connection)
    if (known !== undefined) return Effect.succeed(known)
    return checks.run(connection, checkSession(connection, settings)).pipe(
      Effect.map((wasSet) => {
        const session = new StatementSession(connection, wasSet, uncancelled(connection))
        checked.set(connection, session)
        return session
      }),
      // Its server was requested to end it, but the pool learns of the end later, and would lend the session once more.
      Effect.tapError(() => pool.invalidate(connection)),
      Effect.tapError(() => Effect.sync(() => void (route.servers.length > 1 && route.suspect()))),
    )
  }
  const leases = yield* sessionLeases(pool, route.share, isCounted === true ? (options.maxConnections ?? 10) : 0)
  const onceSettled = <A, E, R>(lease: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => (route.isSettled ? lease : Effect.andThen(settled, lease)))
  const use = <A, E, R>(
    work: (session: StatementSession, connection: PgConnection.PgConnection) => Effect.Effect<A, E, R>,
  ) =>
    Effect.suspend(() => {
      let hasBegun = false
      const begin = (session: StatementSession, connection: PgConnection.PgConnection) => {
        hasBegun = true
        return work(session, connection)
      }
      const lease = leases.use((connection) => {
        const known = checked.get(connection)
        return known === undefined
          ? Effect.flatMap(check(connection), (session) => begin(session, connection))
          : begin(known, connection)
      })
      const own = notInherited(connectMillis, () => hasBegun)(onceSettled(lease))
      return replacingUnfit(opened, () => hasBegun)(own)
    })
  const get = Effect.flatMap(leases.get, (connection) =>
    Effect.map(check(connection), (session) => ({ session, connection })),
  ).pipe(releasedOnFailure, onceSettled, notInherited(connectMillis), replacingUnfit(opened))
  return { pool, config, use, get, uncancelled, transaction, share: route.share }
})

/** The server's role, verified for each session, because it may have changed since the route was settled. */
const FITS: Readonly<Record<SessionAttributes, Readonly<Record<string, string>>>> = {
  any: {},
  "read-write": { in_hot_standby: "off" },
  primary: { in_hot_standby: "off" },
  "read-only": { in_hot_standby: "on" },
  standby: { in_hot_standby: "on" },
  "prefer-standby": {},
}

const make = Effect.fnUntraced(function* (options: SessionPoolOptions) {
  const { config, use, get: lent, uncancelled, transaction } = yield* open(options)
  const get = Effect.map(lent, ({ session }) => session)
  const pinned = Effect.flatMap(lent, ({ session, connection }) =>
    Effect.map(connection.pin, (own) => [own, session] as const),
  )
  const reserve = Effect.map(
    pinned,
    ([own, session]) => new StatementSession(own, session.settingsAreLoose, uncancelled(own)),
  )

  const { overdue } = options
  const watched = overdue === undefined ? <A, E, R>(work: Effect.Effect<A, E, R>) => work : lookedAfter(overdue)
  // One session listens for all: each listener with its own would take the sessions that transactions need.
  const listening = yield* RcRef.make({ acquire: pinned })

  const client = yield* SqlClient.make({
    acquirer: get,
    borrower: (work) => use(work),
    transactionAcquirer: reserve,
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]],
  })
  transaction.key = client.transactionService
  return Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config,
    json: () => {
      throw new Error("json is passed as text here")
    },
    listen: Effect.fnUntraced(function* (channel: string) {
      const [own] = yield* RcRef.get(listening)
      const scope = yield* Scope.make()
      // A listener ends with a statement that nothing else would watch.
      yield* Effect.addFinalizer((exit) => watched(Scope.close(scope, exit)))
      return yield* watched(Scope.provide(own.listen(channel), scope))
    }),
    notify: (channel: string, payload: string) =>
      Effect.asVoid(Effect.scoped(Effect.flatMap(get, (session) => session.executeRaw(NOTIFY, [channel, payload])))),
  }) satisfies PgClient.PgClient
})

const NOTIFY = "SELECT pg_catalog.pg_notify($1, $2)"

/** Opens nothing yet: a session is opened, and its settings verified, on first need. */
export const layer = (options: SessionPoolOptions) => PgClient.layerFrom(make(options))
