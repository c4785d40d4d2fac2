/**
 * The event log in PostgreSQL. Requests that arrive while a write is under way go together as the next batch; the first
 * goes at once, there is no timer. A batch that fails is taken apart until the one at fault stands alone, so that a
 * poisoned event or a locked table fails nobody else's.
 */
import { type AcceptRequest, EventLog, type Receipt, SourceChanged } from "@data-cabinet/core/event/EventLog"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Latch, Layer } from "effect"
import { SqlError } from "effect/sql"
import type { SqlConnection } from "effect/sql"
import { isAway, lossAsFailure, sqlState, unavailable } from "../connection/StoreFailure.ts"
import { addColumns, loadSourceTable, type SourceTable } from "../row/SourceTable.ts"
import { type AcceptedRow, acceptStatement } from "./AcceptStatement.ts"
import { lackOf, planBatch } from "./BatchPlan.ts"

/** Each fingerprint of a batch takes a slot of PostgreSQL's lock table, so a batch is bounded by count, and by bytes. */
const BATCH_EVENTS = 200
const BATCH_BYTES = 4 * 1024 * 1024

/** Batches under way at once: one is written while the next is being planned. */
const WRITERS = 2

/** How long a batch waits for a table that somebody has locked; its rows wait after that, the events do not. */
const LOCK_WAIT = 1_000

/** No sender waits longer for the answer than this. */
const PATIENCE = "9 seconds"

type Answer = Effect.Effect<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable>

interface Pending {
  readonly request: AcceptRequest
  readonly bytes: number
  readonly answer: (answer: Answer) => void
}

const isLockTimeout = (error: SqlError.SqlError) => sqlState(error) === "55P03"
const isNoPartition = (error: SqlError.SqlError) =>
  sqlState(error) === "23514" && /no partition of relation/.test(String(error.reason.cause))

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const signal = yield* DeliverySignal
    const tables = new Map<number, SourceTable>()
    /** Sources whose table could not be had lately: their rows wait without another try until the queue is empty. */
    const waiting = new Set<number>()
    const pending: Array<Pending> = []
    const work = Latch.makeUnsafe(false)

    const takeBatch = (): Array<Pending> => {
      let events = 0
      let bytes = 0
      let count = 0
      for (const { request, bytes: size } of pending) {
        if (count > 0 && (events + request.events.length > BATCH_EVENTS || bytes + size > BATCH_BYTES)) break
        events += request.events.length
        bytes += size
        count++
      }
      return pending.splice(0, count)
    }

    /** The table of a source with a column for every field of these requests; undefined while their rows have to wait. */
    const tableFor = Effect.fnUntraced(function* (sourceId: number, requests: ReadonlyArray<AcceptRequest>) {
      const payloads = requests.flatMap((request) => request.events.map((event) => event.payload))
      let table = tables.get(sourceId)
      if (table === undefined || requests.some((request) => request.sourceVersion !== table?.version)) {
        table = yield* loadSourceTable(sql, sourceId)
        if (table === undefined) return undefined
        tables.set(sourceId, table)
      }
      if (table.name === null) return table
      const lack = lackOf(table.layout, payloads)
      if (lack.missing.length > 0 || lack.needsMore) {
        table = yield* addColumns(sql, sourceId, lack.missing, lack.needsMore)
        if (table === undefined) return undefined
        tables.set(sourceId, table)
        // At the cap the fields that got no column go to `_more`, which may itself be missing.
        const rest = lackOf(table.layout, payloads)
        if (rest.needsMore) table = yield* addColumns(sql, sourceId, [], true)
        if (table !== undefined) tables.set(sourceId, table)
      }
      return table
    })

    /** Which of the waiting sources still wait; asked only while there are any. */
    const forgetDrained = Effect.gen(function* () {
      const still = yield* sql.unsafe<{ id: string }>(
        "SELECT id::text AS id FROM cabinet.source WHERE rows_waiting AND deleted_at IS NULL",
      )
      const ids = new Set(still.map((row) => Number(row.id)))
      for (const id of waiting) if (!ids.has(id)) waiting.delete(id)
    })

    const answerAll = (batch: ReadonlyArray<Pending>, rows: ReadonlyArray<AcceptedRow>) => {
      let n = 0
      let at = 0
      for (const { request, answer } of batch) {
        const receipts: Array<Receipt> = []
        for (const event of request.events) {
          n++
          const row = rows[at]
          if (row?.n !== n) continue
          at++
          const repeatOf = row.repeat_of === null ? null : Number(row.repeat_of)
          receipts.push({ id: Number(row.id), repeatOf, empty: event.empty })
        }
        const whole = receipts.length === request.events.length
        answer(whole ? Effect.succeed(receipts) : Effect.fail(new SourceChanged({ sourceId: request.sourceId })))
      }
    }

    const execute = Effect.fnUntraced(function* (
      connection: SqlConnection.Connection,
      batch: ReadonlyArray<Pending>,
      rowsMayGo: boolean,
    ) {
      if (waiting.size > 0) yield* forgetDrained
      const bySource = Map.groupBy(
        batch.map(({ request }) => request),
        (request) => request.sourceId,
      )
      const targets = new Map<number, { readonly table: SourceTable | undefined; readonly waits: boolean }>()
      for (const [sourceId, requests] of bySource) {
        if (!rowsMayGo || waiting.has(sourceId)) {
          targets.set(sourceId, { table: undefined, waits: true })
          continue
        }
        const table = yield* tableFor(sourceId, requests).pipe(
          Effect.catchIf(isLockTimeout, () => Effect.succeed("locked" as const)),
        )
        if (table === "locked") {
          waiting.add(sourceId)
          targets.set(sourceId, { table: undefined, waits: true })
        } else targets.set(sourceId, { table, waits: false })
      }
      const planned = planBatch(
        batch.map(({ request }) => request),
        (sourceId) => targets.get(sourceId)!,
      )
      const { text, values } = acceptStatement(planned)
      const rows = (yield* connection.execute(text, values, undefined)) as ReadonlyArray<AcceptedRow>
      answerAll(batch, rows)
      // Now it is known which event brought these columns about; the layouts that say otherwise are read anew.
      for (const sourceId of planned.madeFor.sourceId) tables.delete(sourceId)
      if ((rows[0]?.deliveries ?? 0) > 0) yield* signal.wake
    })

    /** Halves a batch at a source's border if it has several, else in the middle of its requests. */
    const halves = (batch: ReadonlyArray<Pending>): ReadonlyArray<ReadonlyArray<Pending>> => {
      const bySource = [...Map.groupBy(batch, ({ request }) => request.sourceId).values()]
      if (bySource.length > 1) return bySource
      return [batch.slice(0, batch.length >> 1), batch.slice(batch.length >> 1)]
    }

    const settle = (
      connection: SqlConnection.Connection,
      batch: ReadonlyArray<Pending>,
      rowsMayGo: boolean,
    ): Effect.Effect<void, SqlError.SqlError> =>
      execute(connection, batch, rowsMayGo).pipe(
        lossAsFailure,
        Effect.catchIf(SqlError.isSqlError, (error): Effect.Effect<void, SqlError.SqlError> => {
          if (isAway(error)) return Effect.fail(error)
          if (isNoPartition(error)) {
            return Effect.andThen(
              sql`SELECT cabinet.make_partitions('cabinet.original')`,
              Effect.suspend(() => settle(connection, batch, rowsMayGo)),
            )
          }
          // What was known of the tables may be outdated: it is read anew by the next try.
          for (const { request } of batch) tables.delete(request.sourceId)
          const sources = new Set(batch.map(({ request }) => request.sourceId))
          if (isLockTimeout(error) && sources.size === 1 && rowsMayGo) {
            for (const id of sources) waiting.add(id)
            return settle(connection, batch, false)
          }
          if (batch.length > 1) {
            return Effect.forEach(halves(batch), (half) => settle(connection, half, rowsMayGo), { discard: true })
          }
          // Alone, and its row cannot be put in: the event is kept all the same, the row waits for somebody to look.
          if (rowsMayGo) {
            return Effect.andThen(
              Effect.logError("an event's row could not be put into its table and waits", error),
              settle(connection, batch, false),
            )
          }
          // Not the source's table, then, but one of our own: somebody is at the schema.
          const told = isLockTimeout(error)
            ? Effect.fail(unavailable("The database is being changed."))
            : Effect.die(error)
          for (const { answer } of batch) answer(told)
          return Effect.void
        }),
      )

    /** A writer's session: its own connection, with the epoch of the feed checked before the first event. */
    const session = Effect.gen(function* () {
      const connection = yield* sql.reserve
      yield* connection.execute(`SET lock_timeout = ${LOCK_WAIT}`, [], undefined)
      yield* connection.execute("SELECT cabinet.check_epoch()", [], undefined)
      return connection
    })

    const failAll = (batch: ReadonlyArray<Pending>, outcomeUnknown: boolean) =>
      Effect.sync(() => {
        const message = outcomeUnknown
          ? "The connection was lost while the events were being written: whether they were is not known."
          : "The database cannot be reached."
        for (const { answer } of batch) answer(Effect.fail(unavailable(message, outcomeUnknown)))
      })

    /** Writes batch after batch on one connection; ends when the connection is lost. */
    const writeOn = (connection: SqlConnection.Connection) =>
      Effect.gen(function* () {
        while (true) {
          const batch = takeBatch()
          if (batch.length === 0) {
            work.closeUnsafe()
            yield* work.await
            continue
          }
          yield* settle(connection, batch, true).pipe(
            Effect.onExit((exit) => (exit._tag === "Failure" ? failAll(batch, true) : Effect.void)),
          )
        }
      })

    const writer = Effect.gen(function* () {
      while (true) {
        if (pending.length === 0) {
          work.closeUnsafe()
          yield* work.await
        }
        yield* session.pipe(
          lossAsFailure,
          // Nothing of these was sent: their outcome is known.
          Effect.tapCause(() => Effect.suspend(() => failAll(pending.splice(0), false))),
          Effect.flatMap(writeOn),
          Effect.scoped,
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.interrupt
              : Effect.logWarning("accepting events was interrupted", Cause.squash(cause)),
          ),
        )
      }
    })
    for (let n = 0; n < WRITERS; n++) yield* Effect.forkScoped(writer)
    yield* Effect.addFinalizer(() => Effect.suspend(() => failAll(pending.splice(0), false)))

    return EventLog.of({
      append: (request) =>
        Effect.callback<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable>((resume) => {
          pending.push({ request, bytes: request.original?.bodyBytes ?? 0, answer: resume })
          work.openUnsafe()
        }).pipe(
          Effect.timeoutOrElse({
            duration: PATIENCE,
            orElse: () => Effect.fail(unavailable("The database did not answer in time.", true)),
          }),
        ),
    })
  }),
)
