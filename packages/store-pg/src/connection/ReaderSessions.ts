/**
 * The reader's sessions on one server, in three pools. What is read from an ordinary table of PostgreSQL's own types runs
 * nobody's functions, and its sessions are shared by all such reads, with their prepared statements. Whatever may run a
 * function that a customer wrote is read apart, and its session is put back in order before anybody has it again.
 *
 * Sources' tables have shared sessions of their own. An author can give a table of its own, and take from it again while a
 * read of it is being planned, what makes the planner run a function, without a trace: nothing that a reader may lock
 * forbids that for statistics. So no customer's code ever runs in a session that a source's rows come from. And where tables
 * belong to several roles (a program of one's own in the same database), a session that has read those of one is put in order
 * before it reads another's: what runs in it is code of whoever owns what it reads.
 *
 * A session that cannot be put in order is closed, and its backend ended: a function can catch a cancel, and keeps to no
 * time limit that it can set.
 */
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { MAX_ROW_BYTES } from "@data-cabinet/core/row/RowReader"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Option, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { rawTypes } from "./RawTypes.ts"
import { END_SESSION, SETTINGS, settingsValues } from "./ReaderStatement.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import * as SessionPool from "./SessionPool.ts"
import { reader, readerApart, type SessionSettings, short } from "./SessionSettings.ts"
import { CONNECT_TIMEOUT } from "./ResponseTimeout.ts"
import type { ResponseWatch } from "./ResponseWatch.ts"

export type Session = PgConnection.PgConnection

export interface ReaderSessions {
  /** For statements that run nobody's functions, on tables that only the cabinet's own user can alter. */
  readonly shared: SessionPool.LentSessions
  /** The same on tables that others can alter, of one owner at a time. */
  readonly authors: SessionPool.LentSessions
  /** For all others: work is `undone` there, and the session `putInOrder`. */
  readonly apart: SessionPool.LentSessions
  /** The settings of a transaction in a session apart: names and values. */
  readonly settings: Readonly<Record<string, string>>
  /** Ends the backend with this process id, if it is one of the reader's, as the reader itself. */
  readonly end: (pid: number) => Effect.Effect<boolean, SqlError.SqlError>
}

export interface ReaderOptions {
  readonly url: string
  readonly role: string
  /** How many reads can be under way at once. */
  readonly maxConnections?: number
  /** How long one query may run, and how long it may wait for a lock. */
  readonly statementTimeoutMillis?: number
  readonly lockTimeoutMillis?: number
}

export const MAX_CONNECTIONS = 8
export const STATEMENT_TIMEOUT = 8_000

/** A part of the connections, one at least; the rest is left to others. */
export const partOf = (maxConnections: number, part: number): number => Math.max(1, Math.floor(maxConnections * part))

/** How many reads that may run a customer's functions are under way at most: so many sessions are kept apart. */
export const apartOf = (maxConnections: number): number => partOf(maxConnections, 3 / 4)

const NAME = "data-cabinet reader"

/** The most that one read apart may send. A function's messages are not asked for, but they are sent as well. */
export const MAX_RESPONSE = MAX_ROW_BYTES + PAGE_BYTES

/**
 * Opened as they are needed, on the primary or on a standby; closed with the scope. Beside an OwnerClient of the same server
 * they are looked after with the owner's: then `watch` is its.
 */
export const readerSessions = Effect.fnUntraced(function* (
  options: ReaderOptions,
  watch: Option.Option<ResponseWatch["Service"]> = Option.none(),
): Effect.fn.Return<ReaderSessions, SqlError.SqlError, Scope.Scope> {
  const { url, role, maxConnections = MAX_CONNECTIONS } = options
  const limits = {
    statementTimeoutMillis: options.statementTimeoutMillis ?? STATEMENT_TIMEOUT,
    lockTimeoutMillis: options.lockTimeoutMillis ?? 2_000,
  }
  const poolOf = (group: SessionGroup, settings: SessionSettings, size: number): SessionPool.SessionPoolOptions => ({
    url,
    stream: group.stream,
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
    maxResponse?: number,
  ) {
    const group = sessionGroup(url, name, undefined, maxResponse)
    const sessions = yield* SessionPool.lentSessions(poolOf(group, settings, size))
    if (Option.isSome(watch)) {
      yield* watch.value.join({
        group,
        isLimited: false,
        probe: () => sessionGroup(url, `${name} probe`),
        open: (own) => SessionPool.layer(poolOf(own, settings, 1)),
      })
    }
    return sessions
  })
  const apart = readerApart(limits)
  return {
    shared: yield* watched(NAME, reader(limits), maxConnections),
    authors: yield* watched(`${NAME} of author's tables`, reader(limits), maxConnections),
    apart: yield* watched(`${NAME} apart`, apart, apartOf(maxConnections), MAX_RESPONSE),
    settings: apart.set,
    end: (pid) =>
      Effect.scoped(
        Effect.flatMap(
          SessionPool.lentSessions(poolOf(sessionGroup(url, `${NAME} end`), short(2_000), 1)),
          (sessions) =>
            sessions.use((session) =>
              Effect.map(session.queryValues(END_SESSION, [String(pid), role], false), ([row]) => row?.[0] === true),
            ),
        ),
      ),
  }
})

/** How long a session may take to be put in order, step by step. */
const RESET_TIMEOUT = "3 seconds"

const step = (session: Session, statement: string) =>
  Effect.timeout(Effect.interruptible(session.query(statement, [], false)), RESET_TIMEOUT)

/**
 * Runs work in a transaction that reads only and is undone whatever it did: what a function set, told or wrote goes with it.
 * `begun` is told the backend's process id.
 */
export const undone = <A, E>(
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

/** A session that is to be given back. */
export interface Used {
  readonly sessions: SessionPool.LentSessions
  readonly session: Session
  readonly settingsAreLoose: boolean
  /** Its backend's process id. */
  readonly pid: number
}

/**
 * Makes a session what it was when it was opened, before it is given back. One that cannot be made so, and one that is still
 * in a transaction, is let go of, and its backend ended by `end`, which never fails. Returns whether it may be used further.
 */
export const putInOrder = (
  { sessions, session, settingsAreLoose, pid }: Used,
  end: (pid: number) => Effect.Effect<void>,
): Effect.Effect<boolean> =>
  Effect.matchEffect(step(session, "DISCARD ALL"), {
    onSuccess: () => (settingsAreLoose ? Effect.as(sessions.letGo(session), false) : Effect.succeed(true)),
    onFailure: () => Effect.andThen(sessions.letGo(session), Effect.as(Effect.forkDetach(end(pid)), false)),
  })
