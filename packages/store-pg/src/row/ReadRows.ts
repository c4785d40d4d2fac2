/**
 * One read in one session. A read that runs no user code is one statement and one round trip in a shared session. Any
 * other runs separately: in a transaction that is rolled back, in a session that is reset before its next use, and whose
 * backend is terminated if it exceeds its time, because a function can catch a cancel and change any time limit.
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { type ReadError, RefusedValue, StaleObject } from "@data-cabinet/core/row/ReadError"
import type { PageQuery, QueryValue } from "@data-cabinet/core/row/RowReader"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { putInOrder, type ReaderSessions, type Session, undone } from "../connection/ReaderSessions.ts"
import type { LentSessions } from "../connection/SessionPool.ts"
import { OVER_TIME, queryTimeout, readError, shortMessage } from "./ReadFailure.ts"
import { TRY_VALUE, withExpectedVersion, withSharedProof } from "./ReadStatement.ts"
import type { ResultRow } from "./RecordPage.ts"

/** A page's query as it is sent: every column that it returns is text or a record. */
export interface RowQuery extends Pick<PageQuery, "text" | "values" | "runsNoUserCode" | "replan"> {
  /** The object that is read, quoted. */
  readonly object: string
  /** The object, and the catalog version that it must still have at the moment of the read; null if none is checked. */
  readonly expectedVersion: { readonly oid: number; readonly catalogVersion: string; readonly owner: number } | null
}

export type Rows = Effect.Effect<ReadonlyArray<ResultRow>, ReadError | RefusedValue | StaleObject>

type SharedFailure = ReadError | RefusedValue | StaleObject | SqlError.SqlError

type Found = ReadonlyArray<ReadonlyArray<unknown>>

export interface ReadPlace {
  readonly sessions: ReaderSessions
  /** Terminates a backend of the reader's on this server; never fails. */
  readonly end: (pid: number, object: string) => Effect.Effect<void>
  readonly ends: TimerWheel
  /** Milliseconds after which the database's own time limit was evaded. */
  readonly millis: number
}

export const readRows = (place: ReadPlace, query: RowQuery): Rows =>
  Effect.catchTag(query.runsNoUserCode ? readShared(place, query) : readApart(place, query), "SqlError", (error) =>
    Effect.fail(readError(error)),
  )

/** A query's statement and values, including the check of the object's version if there is one. */
const statementOf = (
  { text, values, expectedVersion }: RowQuery,
  proven: typeof withExpectedVersion,
): readonly [text: string, values: ReadonlyArray<string>] => {
  const texts = values.map((value) => value.text)
  return expectedVersion === null
    ? [text, texts]
    : [proven(text, texts.length), [...texts, String(expectedVersion.oid)]]
}

const isProven = ({ expectedVersion }: RowQuery, found: Found): boolean =>
  expectedVersion === null || found.every((row) => row.at(-1) === expectedVersion.catalogVersion)

const stale = Effect.fail(new StaleObject())

const rowsOf = (query: RowQuery, found: Found): Rows =>
  isProven(query, found) ? Effect.succeed(found as ReadonlyArray<ResultRow>) : stale

/** Resets a shared session; returns whether it may be used further. */
const ordered = (
  { end }: ReadPlace,
  { object }: RowQuery,
  sessions: LentSessions,
  session: Session,
  settingsAreLoose: boolean,
): Effect.Effect<boolean> =>
  Effect.suspend(() =>
    putInOrder({ sessions, session, settingsAreLoose, pid: session.processId }, (pid) => end(pid, object)),
  )

/**
 * An object that changed since it was found may run user code by now, and so may one whose read fails or is interrupted:
 * the session is then reset. A successful read pays nothing for this.
 */
const readIn =
  (place: ReadPlace, query: RowQuery, sessions: LentSessions) =>
  (session: Session, settingsAreLoose: boolean): Effect.Effect<ReadonlyArray<ResultRow>, SharedFailure> => {
    const [text, values] = statementOf(query, withSharedProof)
    const order = ordered(place, query, sessions, session, settingsAreLoose)
    const run = Effect.onInterrupt(session.queryValues(text, values, !query.replan), () => order)
    return Effect.matchEffect(run, {
      onSuccess: (found) => (isProven(query, found) ? rowsOf(query, found) : Effect.andThen(order, stale)),
      onFailure: (error) =>
        Effect.andThen(
          order,
          failed(query, error, (type, value) => session.queryValues(TRY_VALUE(type), [value], false)),
        ),
    })
  }

/** Only objects that nobody but us can alter need no version check. */
const readShared = (place: ReadPlace, query: RowQuery) =>
  query.expectedVersion === null
    ? place.sessions.shared.use(readIn(place, query, place.sessions.shared))
    : readOthers(place, query, query.expectedVersion.owner)

/** Whose tables a session has read since it was opened or reset: their owner's code may have run in it. */
const owners = new WeakMap<Session, number>()

/** A session that has read another owner's tables is first reset; if that fails it is closed, and the next one is used. */
const readOthers = (
  place: ReadPlace,
  query: RowQuery,
  owner: number,
): Effect.Effect<ReadonlyArray<ResultRow>, SharedFailure> => {
  const sessions = place.sessions.authors
  const read = readIn(place, query, sessions)
  const used = sessions.use(
    (session, settingsAreLoose): Effect.Effect<ReadonlyArray<ResultRow> | undefined, SharedFailure> => {
      const before = owners.get(session)
      owners.set(session, owner)
      if (before === owner || before === undefined) return read(session, settingsAreLoose)
      return Effect.flatMap(
        ordered(place, query, sessions, session, settingsAreLoose),
        (isClean): Effect.Effect<ReadonlyArray<ResultRow> | undefined, SharedFailure> =>
          isClean ? read(session, settingsAreLoose) : Effect.succeed(undefined),
      )
    },
  )
  return Effect.flatMap(used, (rows) => (rows === undefined ? readOthers(place, query, owner) : Effect.succeed(rows)))
}

const readApart = ({ sessions, end, ends, millis }: ReadPlace, query: RowQuery) =>
  sessions.apart.use((session, settingsAreLoose) => {
    const [text, values] = statementOf(query, withExpectedVersion)
    let pid = session.processId
    let isEnded = false
    const endNow = (of: number) => end(of, query.object)
    const stopWatch = ends.watch({
      deadline: ends.now() + millis,
      expire: () => {
        isEnded = true
        Effect.runFork(endNow(pid))
      },
    })
    const run = (statement: string, of: ReadonlyArray<string>) =>
      undone(
        session,
        sessions.settings,
        (begun) => {
          pid = begun
        },
        session.queryValues(statement, of, false),
      )
    return Effect.matchEffect(run(text, values), {
      onSuccess: (found) => rowsOf(query, found),
      onFailure: (error) =>
        isEnded
          ? Effect.fail(queryTimeout(OVER_TIME))
          : failed(query, error, (type, value) => run(TRY_VALUE(type), [value])),
    }).pipe(
      Effect.ensuring(
        Effect.andThen(
          Effect.suspend(() => putInOrder({ sessions: sessions.apart, session, settingsAreLoose, pid }, endNow)),
          Effect.sync(stopWatch),
        ),
      ),
    )
  })

/** Was a value at fault? Each is tested separately, and only after a failure, so that a successful read pays nothing. */
const failed = (
  { values }: { readonly values: ReadonlyArray<QueryValue> },
  error: SqlError.SqlError,
  tried: (type: string, value: string) => Effect.Effect<unknown, SqlError.SqlError>,
): Effect.Effect<never, ReadError | RefusedValue> => {
  const verdict = readError(error)
  if (verdict.code !== "query_failed") return Effect.fail(verdict)
  return Effect.gen(function* () {
    for (const [index, { text, type }] of values.entries()) {
      const refusal = yield* Effect.result(tried(type, text))
      if (refusal._tag === "Failure" && readError(refusal.failure).code === "query_failed") {
        return yield* new RefusedValue({ index, message: shortMessage(refusal.failure) })
      }
    }
    return yield* verdict
  })
}
