/**
 * The event log in PostgreSQL. Requests that arrive while a write is in flight form the next batch; the first request is
 * written at once. A batch that fails, by an SQL error or by a defect of the program, is split until the failing request
 * stands alone, so that a poisoned event or a locked table fails no other request.
 */
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { faultName } from "@data-cabinet/core/error/Fault"
import { type AcceptRequest, type Appended, EventLog } from "@data-cabinet/core/event/EventLog"
import { Memory, memoryFull, MemoryShares, SMALL_BYTES } from "@data-cabinet/core/limit/MemoryBudget"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Latch, Layer, Result } from "effect"
import { SqlError } from "effect/sql"
import { boundTransactions } from "../connection/LostClient.ts"
import { failureReport, writeTrouble } from "../connection/FailureWords.ts"
import { isUnavailable, connectionLossAsError, sqlMessage, sqlState, unavailable } from "../connection/StoreFailure.ts"
import { type WriteSession, WriteSessions } from "../connection/WriteSession.ts"
import { type AcceptedRow, acceptStatement, type BodyLockMode } from "./AcceptStatement.ts"
import { planBatch, type Target } from "./BatchPlan.ts"
import { blockers } from "./Blockers.ts"
import { BODY_SECRET, type BodyKeys, bodyKeys } from "./BodyLocks.ts"
import { answerAll, halves, Pending, type PendingBatch, PendingRequests } from "./PendingRequests.ts"
import { isLockTimeout, sourceTableCache } from "./SourceTableCache.ts"

/**
 * Maximum number of batches in flight. A small second batch costs more than it gains, because most of a batch's cost does
 * not depend on the number of its events. So a second one starts only if it is full, if it is not small compared with the
 * first, or if the first is held up.
 */
export const WRITERS = 2

/** After this time a batch counts as held up: by a lock, or by a slow disk. */
const SLOW_BATCH_MILLIS = 50

/** Milliseconds from then until the blocking sessions are looked up. */
const LOOK_AFTER = 400

/** How long a batch waits for a locked table. After that its rows are deferred; its events are not. */
const LOCK_TIMEOUT_MILLIS = 1_000

/** For how long accepts only try the locks of bodies after a foreign session was seen to hold one. */
const BODY_LOCK_PAUSE = "1 minute"

/** The longest time, in milliseconds, that a sender waits for a response. */
const ANSWER_TIMEOUT_MILLIS = 9_000

/** A request withdrawn before it was sent is not saved and releases its memory. For any other the outcome is unknown. */
const late = (withdrawn: boolean): Appended =>
  Result.fail(unavailable("The database did not answer in time.", !withdrawn))

const HOLDS_NOTHING = (): void => {}

/** A function of its own, so that the plan is not kept in memory while PostgreSQL executes it. */
const send = (
  session: WriteSession,
  keysOf: BodyKeys,
  requests: ReadonlyArray<AcceptRequest>,
  targets: ReadonlyMap<number, Target>,
  bodyLocks: BodyLockMode,
) => {
  const batch = planBatch(requests, (sourceId) => targets.get(sourceId)!, keysOf)
  const { text, values } = acceptStatement(batch, bodyLocks)
  return { created: batch.created, answer: session.connection.execute(text, values, undefined) }
}

/** Checks the epoch of the feed, which may begin a new one, and returns what a writer needs. */
const OPEN_WRITER = `SELECT cabinet.check_epoch(), ${BODY_SECRET} AS secret, pg_backend_pid() AS pid`

interface OpenedWriter {
  readonly secret: string
  readonly pid: number
}

/** Whether PostgreSQL refused the statement for lack of space or privileges: nothing of it was done. */
const isRefused = (cause: Cause.Cause<SqlError.SqlError>): boolean => {
  const error = Cause.squash(cause)
  return SqlError.isSqlError(error) && writeTrouble(error) !== undefined
}

const isNoPartition = (error: SqlError.SqlError) =>
  sqlState(error) === "23514" && /no partition of relation/.test(String(error.reason.cause))

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const signal = yield* DeliverySignal
    const sessions = yield* WriteSessions
    const tables = sourceTableCache(sql)
    const wheel = yield* timerWheel
    const pending = new PendingRequests()
    const work = Latch.makeUnsafe(false)
    /** Set once a session has been opened. */
    let keysOf: BodyKeys | undefined
    /** Number of requests being written. */
    let underWay = 0
    /** Number of batches held up. A count, because the end of one says nothing about another. */
    let heldUp = 0
    const stuck = Latch.makeUnsafe(false)
    /** Process ids of the sessions that write events. */
    const writers = new Set<number>()
    const tellBlockers = blockers()
    let bodyLocks: BodyLockMode = "wait"
    const strangerSeen = Latch.makeUnsafe(false)

    const mayWrite = () => !pending.isEmpty && (underWay === 0 || heldUp > 0 || pending.mayGoBeside(underWay))
    const openIfMayWrite = () => {
      if (mayWrite()) work.openUnsafe()
    }

    const execute = Effect.fnUntraced(function* (
      session: WriteSession,
      batch: PendingBatch,
      rowsMayGo: boolean,
      locks: BodyLockMode,
    ) {
      const requests = batch.map(({ request }) => request)
      session.waits("pool")
      const { created, answer } = send(session, keysOf!, requests, yield* tables.of(requests, rowsMayGo), locks)
      // The statement now belongs to the driver: from here on its outcome is unknown until it responds.
      session.waits("session")
      const rows = (yield* answer) as ReadonlyArray<AcceptedRow>
      sessions.trouble.words = null
      // Deferred until the next batch has been sent, so that PostgreSQL has work meanwhile.
      queueMicrotask(() => answerAll(batch, rows))
      // The creating event of these columns is now recorded; layouts that say otherwise are loaded again.
      for (const { sourceId } of created) tables.forget(sourceId)
      if ((rows[0]?.deliveries ?? 0) > 0) yield* signal.wake
    })

    const settle = (
      session: WriteSession,
      batch: PendingBatch,
      rowsMayGo: boolean,
      locks = bodyLocks,
    ): Effect.Effect<void, SqlError.SqlError> =>
      execute(session, batch, rowsMayGo, locks).pipe(
        connectionLossAsError,
        Effect.catchDefect((fault) => {
          if (session.waitsFor() === "session") return Effect.die(fault)
          // Nothing was sent, so the batch can be retried in parts, and the session is unchanged.
          for (const { request } of batch) tables.forget(request.sourceId)
          return takeApart(session, batch, rowsMayGo, locks, fault)
        }),
        Effect.catchIf(SqlError.isSqlError, (error): Effect.Effect<void, SqlError.SqlError> => {
          if (isUnavailable(error)) return Effect.fail(error)
          session.waits("pool")
          if (isNoPartition(error)) {
            return Effect.andThen(
              sql`SELECT cabinet.make_partitions('cabinet.original_request')`,
              Effect.suspend(() => settle(session, batch, rowsMayGo)),
            )
          }
          // It waited for a foreign session on the lock of a body: retry without waiting.
          if (isLockTimeout(error) && locks === "wait" && bodyLocks === "try") return settle(session, batch, rowsMayGo)
          // The cached tables may be outdated: the next attempt loads them again.
          for (const { request } of batch) tables.forget(request.sourceId)
          const sources = new Set(batch.map(({ request }) => request.sourceId))
          if (isLockTimeout(error) && sources.size === 1 && rowsMayGo) {
            for (const id of sources) tables.wait(id)
            return settle(session, batch, false)
          }
          return takeApart(session, batch, rowsMayGo, locks, error)
        }),
      )

    /**
     * Retries a batch that failed and was not written: first in parts, then without rows, until the request at fault is
     * known.
     */
    const takeApart = (
      session: WriteSession,
      batch: PendingBatch,
      rowsMayGo: boolean,
      locks: BodyLockMode,
      fault: unknown,
    ): Effect.Effect<void, SqlError.SqlError> => {
      if (batch.length > 1) {
        return Effect.forEach(halves(batch), (half) => settle(session, half, rowsMayGo), { discard: true })
      }
      // A single request whose row cannot be inserted: the event is kept all the same, and the row is deferred until
      // someone looks.
      if (rowsMayGo) {
        return Effect.andThen(
          // The message of a defect may quote the submission, so only its name is logged.
          Effect.logError(
            `an event's row could not be put into its table and waits: ${SqlError.isSqlError(fault) ? sqlMessage(fault) : faultName(fault)}`,
          ),
          Effect.suspend(() => settle(session, batch, false)),
        )
      }
      const isBusy = SqlError.isSqlError(fault) && isLockTimeout(fault)
      // So it is not the source's table that is locked, but most likely an equal body whose accept takes long. Being
      // accepted is worth more than being recognized as a repeat.
      if (isBusy && locks === "wait") return settle(session, batch, false, "try")
      // Or one of our own tables is locked, because the schema is being changed. Or the program is at fault.
      for (const one of batch) {
        if (isBusy) one.end(Result.fail(unavailable("The database is being changed.")))
        else one.fault(fault)
      }
      return Effect.void
    }

    /** Checks the epoch of the feed before the first event. An idle writer is woken when its session ends. */
    const openSession = Effect.suspend(() => {
      let pid = 0
      return sessions.open(
        Effect.fnUntraced(function* (connection) {
          yield* connection.execute(`SET lock_timeout = ${LOCK_TIMEOUT_MILLIS}`, [], undefined)
          yield* boundTransactions(connection)
          const [opened] = (yield* connection.execute(OPEN_WRITER, [], undefined)) as ReadonlyArray<OpenedWriter>
          keysOf = bodyKeys(opened!.secret)
          pid = opened!.pid
          writers.add(pid)
        }),
        () => {
          writers.delete(pid)
          work.openUnsafe()
        },
      )
    })

    const failAll = (batch: PendingBatch, outcomeUnknown: boolean) =>
      Effect.sync(() => {
        const message = outcomeUnknown
          ? "The connection was lost while the events were being written: whether they were is not known."
          : "The database cannot be reached."
        for (const one of batch) one.end(Result.fail(unavailable(message, outcomeUnknown)))
      })

    const untilMayWrite = (isClosed: () => boolean) =>
      Effect.gen(function* () {
        while (!mayWrite() && !isClosed()) {
          work.closeUnsafe()
          yield* work.await
        }
      })

    /** Counts the requests of a batch as in flight while it runs, and admits a second batch once it takes too long. */
    const underWayWhile = <E>(batch: PendingBatch, writing: Effect.Effect<void, E>): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        underWay += batch.length
        let isSlow = 0
        const slow = setTimeout(() => {
          heldUp += isSlow = 1
          stuck.openUnsafe()
          openIfMayWrite()
        }, SLOW_BATCH_MILLIS)
        const over = Effect.sync(() => {
          clearTimeout(slow)
          heldUp -= isSlow
          underWay -= batch.length
          openIfMayWrite()
        })
        return Effect.ensuring(writing, over)
      })

    /** Writes batch after batch on one connection; returns when the connection is lost. */
    const writeOn = (session: WriteSession) =>
      Effect.gen(function* () {
        while (true) {
          session.waits(null)
          yield* untilMayWrite(session.isClosed)
          if (session.isClosed()) return
          const batch = pending.take()
          yield* underWayWhile(batch, settle(session, batch, true)).pipe(
            Effect.onExit((exit) =>
              exit._tag === "Failure"
                ? failAll(batch, session.waitsFor() === "session" && !isRefused(exit.cause))
                : Effect.void,
            ),
          )
        }
      })

    const writer = Effect.gen(function* () {
      while (true) {
        yield* untilMayWrite(() => false)
        yield* openSession.pipe(
          connectionLossAsError,
          // None of these was sent: their outcome is known.
          Effect.tapCause(() => Effect.suspend(() => failAll(pending.takeAll(), false))),
          Effect.flatMap(writeOn),
          Effect.scoped,
          Effect.catchCause((cause) => {
            if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
            const error = Cause.squash(cause)
            if (SqlError.isSqlError(error)) sessions.trouble.words = writeTrouble(error) ?? sessions.trouble.words
            return SqlError.isSqlError(error)
              ? Effect.logWarning(`accepting events was interrupted: ${failureReport(error)}`)
              : Effect.logWarning("accepting events was interrupted", cause)
          }),
        )
      }
    })
    // Runs before a writer gives up on a lock, because afterwards nobody can tell who held it.
    yield* Effect.gen(function* () {
      stuck.closeUnsafe()
      yield* stuck.await
      do {
        yield* Effect.sleep(LOOK_AFTER)
        if (heldUp === 0) break
        const stranger = yield* Effect.orElseSucceed(connectionLossAsError(tellBlockers(writers)), () => false)
        if (!stranger) continue
        bodyLocks = "try"
        strangerSeen.openUnsafe()
      } while (heldUp > 0)
    }).pipe(Effect.forever, Effect.forkScoped)
    yield* Effect.gen(function* () {
      yield* strangerSeen.await
      yield* Effect.sleep(BODY_LOCK_PAUSE)
      strangerSeen.closeUnsafe()
      bodyLocks = "wait"
    }).pipe(Effect.forever, Effect.forkScoped)
    for (let n = 0; n < WRITERS; n++) yield* Effect.forkScoped(writer)
    yield* Effect.addFinalizer(() => Effect.suspend(() => failAll(pending.takeAll(), false)))

    const memory = new MemoryShares(yield* Memory)
    const hold = ({ memory: bytes = 0, sourceId, original }: AcceptRequest) =>
      bytes <= SMALL_BYTES ? HOLDS_NOTHING : memory.hold(sourceId, original?.ip ?? null, bytes)

    const expire = (one: Pending) => {
      const isWithdrawn = pending.remove(one)
      if (isWithdrawn) one.end(late(true))
      else one.giveUp(late(false))
    }

    return EventLog.of({
      append: (request, deadline = wheel.now() + ANSWER_TIMEOUT_MILLIS, abandoned) => {
        const release = hold(request)
        if (release === undefined) return Promise.resolve(Result.fail(memoryFull()))
        return new Promise((resolve, reject) => {
          const one = new Pending({ request, deadline, expire, release, resolve, reject })
          one.stopWatch = wheel.watch(one)
          abandoned?.addEventListener("abort", () => one.expire(), { once: true })
          pending.add(one)
          openIfMayWrite()
        })
      },
    })
  }),
)
