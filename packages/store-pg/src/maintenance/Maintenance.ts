/**
 * Periodic maintenance, off the hot path: creates partitions ahead of time, and deletes expired repeat windows, which
 * last five minutes, and expired proofs of persons, in small batches. Any number of processes may run it at once.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { PRUNE_SUBSCRIPTIONS } from "../delivery/FanOutStatement.ts"
import { repeatReportGrants } from "../migrations/ReportsRole.ts"
import { preparedTransactions } from "./PreparedTransactions.ts"
import { endReportSessions } from "./ReportSessions.ts"

const PARTITIONED = ["cabinet.original_request", "cabinet.attempt_delivered", "cabinet.attempt_failed", "cabinet.audit"]

const DELETE_BATCH = 5_000

export const makePartitions = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* Effect.forEach(PARTITIONED, (parent) => sql`SELECT cabinet.make_partitions(${parent}::text::regclass)`, {
    discard: true,
  })
})

/** Deletes expired repeat windows until a batch is not full. */
export const deleteRepeatWindows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  while (true) {
    const gone = yield* sql`
      DELETE FROM cabinet.repeat_window WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM cabinet.repeat_window WHERE first_at < cabinet.now() - interval '6 minutes'
        LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED))
      RETURNING 1`
    if (gone.length < DELETE_BATCH) return
  }
})

/** Deletes used proofs that no clock accepts any longer, until a batch is not full. */
export const deleteUsedProofs = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  while (true) {
    const gone = yield* sql`
      DELETE FROM cabinet.used_proof WHERE id = ANY (ARRAY(
        SELECT id FROM cabinet.used_proof WHERE until < cabinet.now() - interval '1 hour'
        LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED))
      RETURNING 1`
    if (gone.length < DELETE_BATCH) return
  }
})

/** Those that no event needs any longer. */
export const deleteSubscriptions = PgClient.PgClient.use((sql) => sql.unsafe(PRUNE_SUBSCRIPTIONS))

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* background("partition creation", "1 hour", makePartitions)
    yield* background("report session cleanup", "5 seconds", endReportSessions())
    yield* background("prepared transactions", "1 minute", preparedTransactions())
    yield* background("report grants", "1 hour", repeatReportGrants)
    yield* background("repeat window cleanup", "30 seconds", deleteRepeatWindows)
    yield* background("used proof cleanup", "10 minutes", deleteUsedProofs)
    yield* background("subscription cleanup", "1 hour", deleteSubscriptions)
  }),
)
