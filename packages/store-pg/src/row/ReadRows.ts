/**
 * One read in one session. A read without user code takes one statement and one round trip in a shared session. Any other
 * read runs separately, in a transaction that is rolled back and a session that is reset before its next use. Its backend
 * is terminated if it exceeds its time, because a function can catch a cancel and change any time limit.
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { type ReadError, type RefusedValue, StaleObject } from "@data-cabinet/core/row/ReadError"
import type { FoundRows, PageQuery, ReadResult } from "@data-cabinet/core/row/RowReader"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { type Context, Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import type { KeptSession, KeptSessions } from "../connection/KeptSessions.ts"
import { resetSession, type ReaderSessions, type Session, rolledBack } from "../connection/ReaderSessions.ts"
import { readPage, readPages } from "../connection/ReadPages.ts"
import type { PageOutcome, PageStatement } from "../connection/PageStatement.ts"
import { OVER_TIME, queryTimeout, readErrorOf, failed } from "./ReadErrorOf.ts"
import { PROOF, withExpectedVersion } from "./ReadStatement.ts"
import { RecordPage, type ResultRow } from "./RecordPage.ts"
import { foundRows, RowPage } from "./RowPage.ts"

/** A page's query, and the version that its object must still have. */
export interface RowQuery {
  readonly page: PageQuery
  /** The quoted name of the object. */
  readonly object: string
  /** The object, and the catalog version that it must still have at the moment of the read; null if none is checked. */
  readonly expectedVersion: { readonly oid: number; readonly catalogVersion: string; readonly owner: number } | null
}

type SharedFailure = ReadError | RefusedValue | StaleObject | SqlError.SqlError

export interface ReadTarget {
  readonly sessions: ReaderSessions
  /** Terminates one of the reader's backends on this server, and waits until it is gone; never fails. */
  readonly end: (pid: number, object: string) => Effect.Effect<void>
  readonly wheel: TimerWheel
  /** Milliseconds after which the read counts as evading the database's time limit. */
  readonly millis: number
}

export const readRows = async (target: ReadTarget, query: RowQuery, call: AbortableCall): Promise<ReadResult> => {
  const read = query.page.runsNoUserCode
    ? await readShared(target, query, call)
    : await runResult(readIsolated(target, query, call.context), call.context, call)
  if (Result.isSuccess(read)) return Result.succeed(read.success)
  const { failure } = read
  return Result.fail(failure._tag === "SqlError" ? readErrorOf(failure) : failure)
}

const stale = new StaleObject()

/** Resets a shared session; returns whether it is still usable. */
const ordered = (
  { end }: ReadTarget,
  { object }: RowQuery,
  sessions: KeptSessions,
  { session, wire, settingsAreLoose }: KeptSession,
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    wire.prepared.clear()
    return resetSession({ sessions, session, settingsAreLoose, pid: session.processId }, (pid) => end(pid, object))
  })

/** The owner whose tables a session has read since it was opened or reset: that owner's code may have run in it. */
const owners = new WeakMap<Session, number>()

/**
 * Objects that no other role can alter need no version check, and may be read in the sessions for sources' tables.
 *
 * An object that has changed since it was found may run user code, and so may one whose read fails or is aborted. The
 * session is then reset. A successful read pays nothing for this.
 */
const readShared = async (
  target: ReadTarget,
  query: RowQuery,
  call: AbortableCall,
): Promise<Result.Result<FoundRows, SharedFailure>> => {
  const { page, expectedVersion } = query
  const sessions = expectedVersion === null ? target.sessions.shared : target.sessions.authors
  const acquired = await acquire(target, query, sessions, call)
  if (Result.isFailure(acquired)) return Result.fail(acquired.failure)
  const kept = acquired.success
  if (call.isAborted) {
    sessions.release(kept)
    return Result.fail(stale)
  }
  const statement = new RowPage(page)
  const rows = statement.rows()
  const read = await readPage(kept.wire, statementOf(query, statement), rows, call)
  if (Result.isSuccess(read) && !call.isAborted) {
    const { outcome } = read.success
    if (outcome === "too long") {
      sessions.release(kept)
      statement.isTooLong()
      return readShared(target, query, call)
    }
    if (isProven(read.success, expectedVersion)) {
      sessions.release(kept)
      return Result.succeed(foundRows(rows))
    }
  }
  return runResult(unread(target, query, sessions, kept, Result.isFailure(read) ? read.failure : null), call.context)
}

const isProven = (read: PageOutcome, expected: RowQuery["expectedVersion"]): boolean =>
  read.outcome === "read" && (expected === null || read.version === expected.catalogVersion)

const statementOf = ({ page, expectedVersion }: RowQuery, { text, types, areLong }: RowPage): PageStatement => ({
  text,
  values: page.values.map((value) => value.text),
  types,
  replan: page.replan,
  proof: expectedVersion === null ? null : { text: PROOF, values: [String(expectedVersion.oid)] },
  areLong,
})

/** The pages of a group, or why they are invalid: `changed` means that the object has changed since its lookup. */
export type GroupRead = ReadonlyArray<FoundRows> | "changed" | "failed"

/** Reads pages of one object in one session and one transaction, with one proof after all of them. */
export const readGroup = async (
  target: ReadTarget,
  queries: ReadonlyArray<RowQuery>,
  call: AbortableCall,
): Promise<GroupRead> => {
  const [first] = queries
  if (first === undefined) return []
  const { expectedVersion } = first
  const sessions = expectedVersion === null ? target.sessions.shared : target.sessions.authors
  const acquired = await acquire(target, first, sessions, call)
  if (Result.isFailure(acquired)) return "failed"
  const kept = acquired.success
  if (call.isAborted) {
    sessions.release(kept)
    return "failed"
  }
  const pages = queries.map((query) => {
    const page = new RowPage(query.page)
    return { statement: statementOf(query, page), rows: page.rows() }
  })
  const read = await readPages(kept.wire, pages, call)
  if (Result.isSuccess(read) && !call.isAborted && isProven(read.success, expectedVersion)) {
    sessions.release(kept)
    return pages.map(({ rows }) => foundRows(rows))
  }
  const mayBeUsed = await Effect.runPromiseWith(call.context)(ordered(target, first, sessions, kept))
  if (mayBeUsed) sessions.release(kept)
  else kept.giveBack()
  return Result.isSuccess(read) && !call.isAborted && read.success.outcome !== "too long" ? "changed" : "failed"
}

/** Resets the session of a failed or discarded read, and returns the reason. */
const unread = Effect.fnUntraced(function* (
  target: ReadTarget,
  query: RowQuery,
  sessions: KeptSessions,
  kept: KeptSession,
  failure: SqlError.SqlError | null,
): Effect.fn.Return<never, SharedFailure> {
  const mayBeUsed = yield* ordered(target, query, sessions, kept)
  const why: Effect.Effect<never, SharedFailure> =
    failure === null
      ? Effect.fail(stale)
      : failed(query.page, failure, (statement, text) => kept.session.queryValues(statement, [text], false))
  return yield* Effect.ensuring(
    why,
    Effect.sync(() => (mayBeUsed ? sessions.release(kept) : kept.giveBack())),
  )
})

/** Acquires a session. One that has read another owner's tables is reset first; if that fails, it is closed and replaced. */
const acquire = async (
  target: ReadTarget,
  query: RowQuery,
  sessions: KeptSessions,
  call: AbortableCall,
): Promise<Result.Result<KeptSession, SqlError.SqlError>> => {
  const owner = query.expectedVersion?.owner
  for (;;) {
    const kept = sessions.tryAcquire()
    const acquired = kept === undefined ? await sessions.acquire(call) : Result.succeed(kept)
    if (Result.isFailure(acquired) || owner === undefined) return acquired
    const { session } = acquired.success
    const before = owners.get(session)
    owners.set(session, owner)
    if (before === owner || before === undefined) return acquired
    const isClean = await Effect.runPromiseWith(call.context)(ordered(target, query, sessions, acquired.success))
    if (isClean) return acquired
    acquired.success.giveBack()
  }
}

const readIsolated = ({ sessions, end, wheel, millis }: ReadTarget, query: RowQuery, context: Context.Context<never>) =>
  sessions.isolated.use((session, settingsAreLoose) => {
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
    const stopWatch = wheel.watch({
      deadline: wheel.now() + millis,
      expire: () => {
        isEnded = true
        Effect.runForkWith(context)(endNow(pid))
      },
    })
    const run = (statement: string, of: ReadonlyArray<string>) =>
      rolledBack(
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
          : Effect.fail(stale),
      onFailure: (error) =>
        isEnded
          ? Effect.fail(queryTimeout(OVER_TIME))
          : failed(query.page, error, (statement, value) => run(statement, [value])),
    }).pipe(
      Effect.ensuring(
        Effect.andThen(
          Effect.suspend(() => resetSession({ sessions: sessions.isolated, session, settingsAreLoose, pid }, endNow)),
          Effect.sync(stopWatch),
        ),
      ),
    )
  })
