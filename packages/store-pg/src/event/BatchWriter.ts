/**
 * Writes one batch on a session. A batch that fails, by an SQL error or by a defect of the program, is split until the
 * failing request stands alone, so that a poisoned event or a locked table fails no other request.
 */
import { faultName } from "@data-cabinet/core/error/Fault"
import type { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import type { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { storageWords } from "../connection/FailureWords.ts"
import { connectionLossAsError, isUnavailable, sqlMessage, sqlState, unavailable } from "../connection/StoreFailure.ts"
import type { WriteSession, LastWriteFailure } from "../connection/WriteSession.ts"
import { type AcceptedRow, acceptStatement } from "./AcceptStatement.ts"
import { failAll } from "./AppendOutcome.ts"
import type { BodyLockMode } from "./AcceptRepeats.ts"
import { planBatch } from "./BatchPlan.ts"
import type { BlockedBatches } from "./BlockedBatches.ts"
import type { BodyKeys } from "./BodyLocks.ts"
import { countEvents } from "./EventCounter.ts"
import type { FilteredCounts } from "./FilteredCounts.ts"
import { resolveAll, halves, type PendingBatch } from "./PendingRequests.ts"
import { isLockTimeout, type SourceTableCache, sourceTableCache } from "./SourceTableCache.ts"
import type { WriteReports } from "./WriteReports.ts"

interface Parts {
  readonly sql: PgClient.PgClient
  readonly signal: DeliverySignal["Service"]
  readonly feed: FeedSignal["Service"]
  readonly trouble: LastWriteFailure
  readonly reports: WriteReports
  readonly blocked: BlockedBatches
  readonly filtered: FilteredCounts
}

type Written = Effect.Effect<void, SqlError.SqlError>

/** How a batch is written: on which session, whether rows may go into their tables, and how bodies are locked. */
interface WriteMode {
  readonly session: WriteSession
  readonly rowsMayGo: boolean
  readonly locks: BodyLockMode
  /** The batch was planned a second time, because a table had changed. */
  readonly replanned?: true
}

export class BatchWriter {
  readonly #parts: Parts
  readonly #tables: SourceTableCache
  /** Set by every session when it opens, before anything is written on it. */
  keysOf: BodyKeys | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#tables = sourceTableCache(parts.sql)
  }

  /** Succeeds once each request has its result; fails if the database is unavailable. */
  write(session: WriteSession, batch: PendingBatch): Written {
    return this.#write(batch, this.#mode(session, true))
  }

  #mode(session: WriteSession, rowsMayGo: boolean): WriteMode {
    return { session, rowsMayGo, locks: this.#parts.blocked.bodyLocks }
  }

  #write(batch: PendingBatch, mode: WriteMode): Written {
    return this.#execute(batch, mode).pipe(
      connectionLossAsError,
      Effect.catchDefect((fault) => this.#afterFault(batch, mode, fault)),
      Effect.catchIf(SqlError.isSqlError, (error) => this.#afterError(batch, mode, error)),
    )
  }

  /**
   * One generator for all batches: a generator per call would keep its references, such as the batch, alive until a
   * full garbage collection.
   */
  readonly #execute = Effect.fnUntraced({ self: this }, function* (batch: PendingBatch, mode: WriteMode) {
    const { session } = mode
    session.waits("pool")
    const { created, isFiltered, isQueued, result } = yield* this.#plan(batch, mode)
    // The statement now belongs to the driver: from here on its outcome is unknown until it responds.
    session.waits("session")
    const rows = (yield* result) as ReadonlyArray<AcceptedRow>
    if (session.isUnconfirmed()) return yield* unconfirmed
    this.#parts.trouble.words = null
    yield* this.#parts.reports.recovered
    // Deferred until the next batch has been sent, so that PostgreSQL has work meanwhile.
    queueMicrotask(() => resolveAll(batch, rows))
    // The event that created these columns is now recorded; layouts without it are loaded again.
    for (const { sourceId } of created) this.#tables.forget(sourceId)
    this.#parts.feed.wake()
    yield* countEvents(rows)
    if (isFiltered) yield* this.#parts.filtered.count(batch, rows)
    if ((rows[0]?.deliveries ?? 0) > 0) yield* this.#parts.signal.wake
    if (isQueued || (rows[0]?.fan_outs ?? 0) > 0) yield* this.#parts.signal.fanOut.wake
  })

  /**
   * Separate from `#execute`, whose variables live until PostgreSQL has executed the statement: kept that long, the
   * plans of the rows would double the cost of garbage collection.
   */
  #plan(batch: PendingBatch, { session, rowsMayGo, locks }: WriteMode) {
    const requests = batch.map(({ request }) => request)
    return Effect.map(this.#tables.of(requests, rowsMayGo), (targets) => {
      const planned = planBatch(requests, (sourceId) => targets.get(sourceId)!, this.keysOf!)
      const { text, values } = acceptStatement(planned, locks)
      const isFiltered = planned.passed !== null
      const isQueued = planned.queued !== null
      return {
        created: planned.created,
        isFiltered,
        isQueued,
        result: session.connection.execute(text, values, undefined),
      }
    })
  }

  #afterFault(batch: PendingBatch, mode: WriteMode, fault: unknown): Written {
    if (mode.session.waitsFor() === "session") return Effect.die(fault)
    // Nothing was sent, so the batch can be retried in parts, and the session is unchanged.
    this.#forgetTables(batch)
    return this.#takeApart(batch, mode, fault)
  }

  #afterError(batch: PendingBatch, mode: WriteMode, error: SqlError.SqlError): Written {
    const { session, rowsMayGo, locks } = mode
    if (isUnavailable(error)) return Effect.fail(error)
    session.waits("pool")
    if (isNoPartition(error)) {
      return Effect.andThen(
        this.#parts.sql`SELECT cabinet.make_partitions('cabinet.original_request')`,
        Effect.suspend(() => this.#write(batch, this.#mode(session, rowsMayGo))),
      )
    }
    // It waited for a foreign session on the lock of a body: retry without waiting.
    if (isLockTimeout(error) && locks === "wait" && this.#parts.blocked.bodyLocks === "try") {
      return this.#write(batch, this.#mode(session, rowsMayGo))
    }
    // The cached tables may be outdated: the next attempt loads them again.
    this.#forgetTables(batch)
    // A column was dropped after the batch was planned. The batch is planned again, and its requests are parsed for the
    // new table.
    if (isColumnGone(error) && mode.replanned === undefined) return this.#write(batch, { ...mode, replanned: true })
    const sources = new Set(batch.map(({ request }) => request.sourceId))
    if (isLockTimeout(error) && sources.size === 1 && rowsMayGo) {
      for (const id of sources) this.#tables.wait(id)
      return this.#write(batch, this.#mode(session, false))
    }
    return this.#takeApart(batch, mode, error)
  }

  /**
   * Retries a batch that failed and was not written: first in parts, then without rows, until the request at fault is
   * known.
   */
  #takeApart(batch: PendingBatch, mode: WriteMode, fault: unknown): Written {
    const { session, rowsMayGo, locks } = mode
    if (batch.length > 1) {
      const write = (half: PendingBatch) => this.#write(half, this.#mode(session, rowsMayGo))
      return Effect.forEach(halves(batch), write, { discard: true })
    }
    // A single request whose row cannot be inserted: keep the event, and defer the row until an operator looks.
    if (rowsMayGo) {
      return Effect.andThen(
        // The message of a defect may quote the submission, so only its name is logged.
        Effect.logError(
          `an event's row cannot be written to its table yet and is deferred: ${SqlError.isSqlError(fault) ? sqlMessage(fault) : faultName(fault)}`,
        ),
        Effect.suspend(() => this.#write(batch, this.#mode(session, false))),
      )
    }
    const error = SqlError.isSqlError(fault) ? fault : undefined
    const trouble = error === undefined ? undefined : storageWords(error)
    if (error !== undefined && trouble !== undefined) {
      return Effect.andThen(this.#parts.reports.failed(Cause.fail(error)), failAll(batch, trouble))
    }
    const isBusy = error !== undefined && isLockTimeout(error)
    // So the source's table is not locked; most likely an equal body is, whose accept takes long. Accepting is worth
    // more than recognizing a repeat.
    if (isBusy && locks === "wait") return this.#write(batch, { session, rowsMayGo: false, locks: "try" })
    // Otherwise one of our own tables is locked because the schema is being changed, or the program is at fault.
    for (const one of batch) {
      if (isBusy) one.end(Result.fail(unavailable("The tables are being changed; try again.")))
      else one.fault(fault)
    }
    return Effect.void
  }

  #forgetTables(batch: PendingBatch): void {
    for (const { request } of batch) this.#tables.forget(request.sourceId)
  }
}

/** Treated like a lost connection: the acknowledgment needs a new session, and its outcome is unknown. */
const unconfirmed = Effect.suspend(() => {
  const message = "a commit that was waiting for its standby was cancelled: it is not known whether it is durable"
  const reason = new SqlError.ConnectionError({ cause: new Error(message), message, operation: "execute" })
  return Effect.fail(new SqlError.SqlError({ reason }))
})

const isColumnGone = (error: SqlError.SqlError): boolean => sqlState(error) === "42703"

const isNoPartition = (error: SqlError.SqlError) =>
  sqlState(error) === "23514" && /no partition of relation/.test(String(error.reason.cause))
