/**
 * Forgets what is past its time, by the cabinet's own clock: original requests and runs of polls. (The delivery queue
 * forgets its attempts itself.) Events and rows are never forgotten by age.
 *
 * Nothing here holds a lock that accepting an event would wait for. Any number of processes may run it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schedule } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { dropOldPartitions } from "./OldPartitions.ts"

export interface RetentionOptions {
  /** Whole days that original requests are kept. */
  readonly originalDays: number
  /** Whole days that runs of polls are kept; failed ones stay 90 at least, as failed attempts do. */
  readonly logDays: number
}

const FAILED_DAYS = 90
const RUNS_A_BITE = 2_000

/** $1 days, $2 days for failed ones, $3 how many. The last run of a poll always stays: it says how the poll is. */
const FORGET_RUNS = `
  DELETE FROM cabinet.poll_run WHERE id IN (
    SELECT r.id FROM cabinet.poll_run r
    WHERE r.at < cabinet.now() - make_interval(days => CASE r.outcome WHEN 'failed' THEN $2::int ELSE $1::int END)
      AND EXISTS (SELECT FROM cabinet.poll_run later WHERE later.poll_id = r.poll_id AND later.id > r.id)
    LIMIT $3::int)
  RETURNING 1`

/** One round; answers how many partitions and runs went. */
export const forgetOld = Effect.fnUntraced(function* ({ originalDays, logDays }: RetentionOptions) {
  const sql = yield* PgClient.PgClient
  const originals = yield* dropOldPartitions(sql, "original", originalDays)
  let runs = 0
  for (let count = RUNS_A_BITE; count === RUNS_A_BITE; runs += count) {
    const bite = sql.unsafe(FORGET_RUNS, [logDays, Math.max(logDays, FAILED_DAYS), RUNS_A_BITE])
    count = (yield* orUnavailable(bite)).length
  }
  return { originals, runs }
})

/** A round soon after the start, for a process that never lives an hour, and then every hour. */
export const layer = (options: RetentionOptions) =>
  Layer.effectDiscard(
    forgetOld(options).pipe(
      Effect.catchCause((cause) => Effect.logWarning("forgetting what is past its time will be tried again", cause)),
      Effect.delay("30 seconds"),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped,
    ),
  )
