/**
 * The reader's sessions on one server, in four pools. A read of an ordinary table with only PostgreSQL's own types runs
 * no user code; such reads share their sessions, with their prepared statements. A read that may run a customer's
 * function gets a separate session, which is reset before its next use.
 *
 * The tables of sources have separate shared sessions. An author can add something to an own table that makes the
 * planner run a function, and remove it without a trace while a read is being planned. For statistics, no lock that a
 * reader may take prevents this. So no customer's code ever runs in a session that reads a source's rows. And if tables
 * belong to several roles (another program in the same database), a session that has read tables of one is reset before
 * it reads another's: code that runs in it belongs to the owner of the object read.
 *
 * A session that cannot be reset is closed and its backend terminated: a function can catch a cancel, and ignores every
 * time limit that it can set. One that ignores even its termination keeps its slot (see SessionEnd).
 *
 * Decision: docs/decisions/0080-what-cannot-be-stopped-keeps-its-place.md
 */
import { MAX_SNAPSHOTS } from "@data-cabinet/core/export/RowSnapshots"
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { MAX_ROW_BYTES } from "@data-cabinet/core/row/RowReader"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Option, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { KeptSessions } from "./KeptSessions.ts"
import { rawTypes } from "./RawTypes.ts"
import { endSession, type EndedSession } from "./SessionEnd.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import * as SessionPool from "./SessionPool.ts"
import { reader, readerIsolated, readerSnapshot, type SessionSettings, short } from "./SessionSettings.ts"
import { CONNECT_TIMEOUT } from "./ResponseTimeout.ts"
import type { ResponseWatch } from "./ResponseWatch.ts"
import { Wires } from "./Wires.ts"

/**
 * Sets everything that a transaction relies on, regardless of the session's state, and of a pooler's changes to its
 * initial settings. Returns the backend's process id.
 */
export const SETTINGS = (settings: Readonly<Record<string, string>>): string => {
  const names = Object.keys(settings)
  const set = names.map(
    (_, index) => `pg_catalog.set_config($${2 * index + 1}::pg_catalog.text, $${2 * index + 2}::pg_catalog.text, true)`,
  )
  return `SELECT ${["pg_catalog.pg_backend_pid()", ...set].join(", ")}`
}

/** The parameter values of `SETTINGS`. */
export const settingsValues = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flat()

export type Session = PgConnection.PgConnection

export interface ReaderSessions {
  /** For statements that run no user code, on tables that only the cabinet's own user can alter. */
  readonly shared: KeptSessions
  /** The same for tables that others can alter, of one owner at a time. */
  readonly authors: KeptSessions
  /** For all others: their work runs in `rolledBack`, and the session is then reset by `resetSession`. */
  readonly isolated: SessionPool.LentSessions
  /**
   * For exports, each in a separate session that is closed afterwards. A statement may take long; it and the functions
   * that it calls see the database as it was at the start.
   */
  readonly snapshots: KeptSessions
  /** The settings of a transaction in a separate session: names and values. */
  readonly settings: Readonly<Record<string, string>>
  /** Ends one of the reader's sessions, as the reader itself, and waits until it has left (see endSession). */
  readonly end: (session: Omit<EndedSession, "role">) => Effect.Effect<void, SqlError.SqlError>
}

export interface ReaderOptions {
  readonly url: string
  readonly role: string
  /** Maximum number of reads in flight. */
  readonly maxConnections?: number
  /** How long one query may run, and how long it may wait for a lock. */
  readonly statementTimeoutMillis?: number
  readonly lockTimeoutMillis?: number
}

export const MAX_CONNECTIONS = 8
export const STATEMENT_TIMEOUT_MILLIS = 8_000

/** A fraction of the connections, at least one; the rest is left to others. */
export const partOf = (maxConnections: number, part: number): number => Math.max(1, Math.floor(maxConnections * part))

/** Maximum number of concurrent reads that may run a customer's functions: as many sessions are kept separate. */
export const isolatedOf = (maxConnections: number): number => partOf(maxConnections, 3 / 4)

const NAME = "data-cabinet reader"

/** The most bytes that one such read may send. A function's messages are unsolicited, but they are sent as well. */
export const MAX_RESPONSE = MAX_ROW_BYTES + PAGE_BYTES

/**
 * Sessions are opened as needed, on the primary or on a standby, and closed with the scope. Next to an OwnerClient of the
 * same server they are watched along with the owner's: `watch` is then the owner's.
 */
export const readerSessions = Effect.fnUntraced(function* (
  options: ReaderOptions,
  watch: Option.Option<ResponseWatch["Service"]> = Option.none(),
): Effect.fn.Return<ReaderSessions, SqlError.SqlError, Scope.Scope> {
  const { url, role, maxConnections = MAX_CONNECTIONS } = options
  const limits = {
    statementTimeoutMillis: options.statementTimeoutMillis ?? STATEMENT_TIMEOUT_MILLIS,
    lockTimeoutMillis: options.lockTimeoutMillis ?? 2_000,
  }
  const poolOf = (group: SessionGroup, settings: SessionSettings, size: number): SessionPool.SessionPoolOptions => ({
    url,
    stream: group.stream,
    isCounted: group.isCounted,
    maxConnections: size,
    types: rawTypes(),
    idleTimeout: "60 seconds",
    connectTimeout: CONNECT_TIMEOUT,
    applicationName: group.applicationName,
    settings,
  })
  const watched = Effect.fnUntraced(function* (
    name: string,
    settings: SessionSettings,
    size: number,
    group: SessionGroup,
    wires: { readonly wires?: Wires },
  ) {
    const sessions = yield* SessionPool.lentSessions({ ...poolOf(group, settings, size), ...wires })
    if (Option.isSome(watch)) {
      yield* watch.value.join({
        group,
        isLimited: false,
        probe: () => sessionGroup(url, `${name} probe`),
        open: (own) => SessionPool.layer(poolOf(own, settings, 1)),
        // It commits nothing.
        searchElsewhere: Effect.void,
      })
    }
    return sessions
  })
  const kept = Effect.fnUntraced(function* (name: string, settings: SessionSettings, size: number) {
    const group = sessionGroup(url, name, { waitsForTurn: true })
    const wires = new Wires(group)
    return yield* KeptSessions.make(yield* watched(name, settings, size, group, { wires }))
  })
  const isolated = readerIsolated(limits)
  const isolatedName = `${NAME} isolated`
  const isolatedGroup = sessionGroup(url, isolatedName, { maxResponse: MAX_RESPONSE, waitsForTurn: true })
  return {
    shared: yield* kept(NAME, reader(limits), maxConnections),
    authors: yield* kept(`${NAME} author tables`, reader(limits), maxConnections),
    snapshots: yield* kept(`${NAME} export`, readerSnapshot(limits), MAX_SNAPSHOTS),
    // A read that may run a customer's functions goes by the driver.
    isolated: yield* watched(isolatedName, isolated, isolatedOf(maxConnections), isolatedGroup, {}),
    settings: isolated.set,
    end: (session) =>
      Effect.scoped(
        Effect.flatMap(
          SessionPool.lentSessions(poolOf(sessionGroup(url, `${NAME} end`), short(2_000), 1)),
          (sessions) =>
            endSession((statement, values) => sessions.use((own) => own.queryValues(statement, [...values], false)), {
              ...session,
              role,
            }),
        ),
      ),
  }
})

/** Time limit of each step that resets a session. */
const RESET_TIMEOUT = "3 seconds"

const step = (session: Session, statement: string) =>
  Effect.timeout(Effect.interruptible(session.query(statement, [], false)), RESET_TIMEOUT)

/**
 * Runs work in a read-only transaction that is always rolled back: everything that a function set, notified or wrote is
 * undone with it. `begun` is called with the backend's process id.
 */
export const rolledBack = <A, E>(
  session: Session,
  settings: Readonly<Record<string, string>>,
  begun: (pid: number) => void,
  work: Effect.Effect<A, E>,
): Effect.Effect<A, E | SqlError.SqlError> => {
  const inside = Effect.andThen(session.queryValues(SETTINGS(settings), settingsValues(settings), false), (rows) =>
    Effect.suspend(() => {
      begun(Number(rows[0]![0]))
      return work
    }),
  )
  return Effect.andThen(
    session.query("BEGIN READ ONLY", [], false),
    Effect.ensuring(inside, Effect.ignore(step(session, "ROLLBACK"))),
  )
}

/** A session about to be returned to its pool. */
export interface UsedSession {
  readonly sessions: Pick<SessionPool.LentSessions, "invalidate">
  readonly session: Session
  readonly settingsAreLoose: boolean
  /** Its backend's process id. */
  readonly pid: number
}

/**
 * Resets a session to the state in which it was opened, before it is returned to its pool. A session that cannot be
 * reset, or that is still in a transaction, is discarded, and ended by `end`, which never fails and returns once its
 * backend has left: until then the session keeps its place in the pool. Returns whether the session may be used further.
 */
export const resetSession = (
  { sessions, session, settingsAreLoose, pid }: UsedSession,
  end: (pid: number) => Effect.Effect<void>,
): Effect.Effect<boolean> =>
  Effect.matchEffect(step(session, "DISCARD ALL"), {
    onSuccess: () => (settingsAreLoose ? Effect.as(sessions.invalidate(session), false) : Effect.succeed(true)),
    onFailure: () => Effect.andThen(sessions.invalidate(session), Effect.as(end(pid), false)),
  })
