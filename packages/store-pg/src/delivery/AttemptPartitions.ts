/** The daily partitions of recorded attempts: created when an attempt needs them, dropped with old deliveries. */
import type { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { dropOldPartitions } from "../connection/OldPartitions.ts"
import { isConflict, orUnavailable, sqlState } from "../connection/StoreFailure.ts"
import { PRUNE_DELIVERIES } from "./DeliveryStatement.ts"

/** How many deliveries one statement prunes. */
const PRUNE_BATCH = 2000

type Sql = PgClient.PgClient

/** The attempt's day has no partition: the machine slept, or its clock was set. */
const hasNoPartition = (error: SqlError.SqlError) => sqlState(error) === "23514"

const makePartitions = (sql: Sql) => sql`SELECT cabinet.make_partitions('cabinet.attempt_delivered'),
  cabinet.make_partitions('cabinet.attempt_failed')`

/** Runs a statement that records attempts: again after a conflict, and once more after a missing partition was created. */
export const recording = <A>(sql: Sql, statement: Effect.Effect<A, SqlError.SqlError>) =>
  statement.pipe(
    Effect.retry({ while: isConflict, times: 3 }),
    Effect.catchIf(hasNoPartition, () => Effect.andThen(makePartitions(sql), statement)),
    orUnavailable,
  )

/** Drops partitions past their retention period, and deliveries whose attempts are gone. */
export const prune = Effect.fnUntraced(function* (sql: Sql, keep: Parameters<DeliveryQueue["Service"]["prune"]>[0]) {
  yield* orUnavailable(makePartitions(sql))
  const failedDays = Math.max(keep.deliveredDays, keep.failedDays)
  const partitions =
    (yield* dropOldPartitions(sql, "attempt_delivered", keep.deliveredDays)) +
    (yield* dropOldPartitions(sql, "attempt_failed", failedDays))
  let deliveries = 0
  for (let count = PRUNE_BATCH; count === PRUNE_BATCH; deliveries += count) {
    const slice = sql.unsafe<{ readonly count: number }>(
      `WITH gone AS (${PRUNE_DELIVERIES} RETURNING 1) SELECT count(*)::int AS count FROM gone`,
      [failedDays, PRUNE_BATCH],
    )
    count = (yield* orUnavailable(slice))[0]!.count
  }
  return { partitions, deliveries }
})
