/**
 * One read in one session. A read that runs no user code is one statement and one round trip in a shared session. Any
 * other runs separately: in a transaction that is rolled back, in a session that is reset before its next use, and whose
 * backend is terminated if it exceeds its time, because a function can catch a cancel and change any time limit.
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { type ReadError, RefusedValue, StaleObject } from "@data-cabinet/core/row/ReadError"
import type { FoundRows, PageQuery, QueryValue } from "@data-cabinet/core/row/RowReader"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { putInOrder, type ReaderSessions, type Session, undone } from "../connection/ReaderSessions.ts"
import type { LentSessions } from "../connection/SessionPool.ts"
import { readPage } from "../connection/PageExchange.ts"
import { OVER_TIME, queryTimeout, readError, shortMessage } from "./ReadFailure.ts"
import { PROOF, TRY_VALUE, withExpectedVersion } from "./ReadStatement.ts"
import { RecordPage, type ResultRow } from "./RecordPage.ts"
import { foundRows, RowPage } from "./RowPage.ts"

/** A page's query, and what is checked beside it. */
export interface RowQuery {
  readonly page: PageQuery
  /** The object that is read, quoted. */
  readonly object: string
  /** The object, and the catalog version that it must still have at the moment of the read; null if none is checked. */
  readonly expectedVersion: { readonly oid: number; readonly catalogVersion: string; readonly owner: number } | null
}

export type Rows = Effect.Effect<FoundRows, ReadError | RefusedValue | StaleObject>

type SharedFailure = ReadError | RefusedValue | StaleObject | SqlError.SqlError

export interface ReadPlace {
  readonly sessions: ReaderSessions
  /** Terminates a backend of the reader's on this server; never fails. */
  readonly end: (pid: number, object: string) => Effect.Effect<void>
  readonly ends: TimerWheel
  /** Milliseconds after which the database's own time limit was evaded. */
  readonly millis: number
}

export const readRows = (place: ReadPlace, query: RowQuery): Rows =>
  Effect.catchTag(query.page.runsNoUserCode ? readShared(place, query) : readApart(place, query), "SqlError", (error) =>
    Effect.fail(readError(error)),
  )

const stale = Effect.fail(new StaleObject())

const lost = Effect.suspend(() => {
  const cause = new Error("A session of the reader's has no connection that is known")
  return Effect.fail(
    new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "query" }),
    }),
  )
})

/** Resets a shared session; returns whether it may be used further. */
const ordered = (
  { end }: ReadPlace,
  { object }: RowQuery,
  sessions: LentSessions,
  session: Session,
  settingsAreLoose: boolean,
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    sessions.wireOf(session)?.prepared.clear()
    return putInOrder({ sessions, session, settingsAreLoose, pid: session.processId }, (pid) => end(pid, object))
  })

/**
 * An object that changed since it was found may run user code by now, and so may one whose read fails or is interrupted:
 * the session is then reset. A successful read pays nothing for this. Undefined if the page has to be read once more.
 */
const readIn =
  (place: ReadPlace, query: RowQuery, sessions: LentSessions) =>
  (session: Session, settingsAreLoose: boolean): Effect.Effect<FoundRows | undefined, SharedFailure> =>
    Effect.suspend(() => {
      const { page, expectedVersion } = query
      const wire = sessions.wireOf(session)
      if (wire === undefined) return Effect.andThen(sessions.letGo(session), lost)
      const order = ordered(place, query, sessions, session, settingsAreLoose)
      const statement = new RowPage(page)
      const rows = statement.rows()
      const run = readPage(
        wire,
        {
          text: statement.text,
          values: page.values.map((value) => value.text),
          types: statement.types,
          replan: page.replan,
          proof: expectedVersion === null ? null : { text: PROOF, values: [String(expectedVersion.oid)] },
          areLong: statement.areLong,
        },
        rows,
      )
      return Effect.matchEffect(
        Effect.onInterrupt(run, () => order),
        {
          onSuccess: (read): Effect.Effect<FoundRows | undefined, SharedFailure> => {
            if (read.outcome === "too long") {
              statement.isTooLong()
              return Effect.succeed(undefined)
            }
            return read.outcome === "read" &&
              (expectedVersion === null || read.version === expectedVersion.catalogVersion)
              ? Effect.succeed(foundRows(rows))
              : Effect.andThen(order, stale)
          },
          onFailure: (error) =>
            Effect.andThen(
              order,
              failed(page.values, error, (type, value) => session.queryValues(TRY_VALUE(type), [value], false)),
            ),
        },
      )
    })

/** Only objects that nobody but us can alter need no version check. */
const readShared = (place: ReadPlace, query: RowQuery): Effect.Effect<FoundRows, SharedFailure> => {
  const { expectedVersion } = query
  const sessions = place.sessions.shared
  const once: Effect.Effect<FoundRows | undefined, SharedFailure> =
    expectedVersion === null
      ? sessions.use(readIn(place, query, sessions))
      : readOthers(place, query, expectedVersion.owner)
  return Effect.flatMap(once, (rows) => (rows === undefined ? readShared(place, query) : Effect.succeed(rows)))
}

/** Whose tables a session has read since it was opened or reset: their owner's code may have run in it. */
const owners = new WeakMap<Session, number>()

/**
 * A session that has read another owner's tables is first reset; if that fails it is closed, and the read has to go to
 * another one.
 */
const readOthers = (
  place: ReadPlace,
  query: RowQuery,
  owner: number,
): Effect.Effect<FoundRows | undefined, SharedFailure> => {
  const sessions = place.sessions.authors
  const read = readIn(place, query, sessions)
  return sessions.use((session, settingsAreLoose): Effect.Effect<FoundRows | undefined, SharedFailure> => {
    const before = owners.get(session)
    owners.set(session, owner)
    if (before === owner || before === undefined) return read(session, settingsAreLoose)
    return Effect.flatMap(ordered(place, query, sessions, session, settingsAreLoose), (isClean) =>
      isClean ? read(session, settingsAreLoose) : Effect.succeed(undefined),
    )
  })
}

const readApart = ({ sessions, end, ends, millis }: ReadPlace, query: RowQuery) =>
  sessions.apart.use((session, settingsAreLoose) => {
    const page = new RecordPage(query.page)
    const values = query.page.values.map(({ text }) => text)
    const { expectedVersion } = query
    const [text, parameters] =
      expectedVersion === null
        ? [page.text, values]
        : [withExpectedVersion(page.text, values.length), [...values, String(expectedVersion.oid)]]
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
    return Effect.matchEffect(run(text, parameters), {
      onSuccess: (found) =>
        expectedVersion === null || found.every((row) => row.at(-1) === expectedVersion.catalogVersion)
          ? Effect.succeed(page.read(found as ReadonlyArray<ResultRow>))
          : stale,
      onFailure: (error) =>
        isEnded
          ? Effect.fail(queryTimeout(OVER_TIME))
          : failed(query.page.values, error, (type, value) => run(TRY_VALUE(type), [value])),
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
  values: ReadonlyArray<QueryValue>,
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
