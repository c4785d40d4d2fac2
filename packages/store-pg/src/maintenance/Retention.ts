/**
 * Forgets what is past its time, by the cabinet's own clock: original requests, runs of polls, what was noted of imports
 * that nobody will ask for again, and what polls had that are no more. (The delivery queue forgets its attempts itself.) Events and rows are never
 * forgotten by age.
 *
 * Nothing here holds a lock that accepting an event would wait for. Any number of processes may run it.
 */
import { instrument } from "@data-cabinet/core/runtime/Instrument"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schedule } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { forgetOriginals } from "./OldOriginals.ts"
import { dropOldPartitions } from "./OldPartitions.ts"

export interface RetentionOptions {
  /** Whole days that original requests are kept. */
  readonly originalDays: number
  /** Whole days that runs of polls are kept, and failed ones, which stay as long as the others at least. */
  readonly logDays: number
  readonly failedLogDays: number
}

const DELETE_BATCH = 2_000

/** $1 days, $2 days for failed ones, $3 how many. The last run of a poll always stays: it says how the poll is. */
const FORGET_RUNS = `
  DELETE FROM cabinet.poll_run WHERE id IN (
    SELECT r.id FROM cabinet.poll_run r
    WHERE r.at < cabinet.now() - make_interval(days => CASE r.outcome WHEN 'failed' THEN $2::int ELSE $1::int END)
      AND EXISTS (SELECT FROM cabinet.poll_run later WHERE later.poll_id = r.poll_id AND later.id > r.id)
    LIMIT $3::int)
  RETURNING 1`

/**
 * $1 days, $2 days for failed ones, $3 how many. What a poll found new was an import of its own, of which its run tells
 * all; a file that was taken stays noted, for by that it is known again.
 */
const FORGET_IMPORTS = `
  DELETE FROM cabinet.import WHERE id IN (
    SELECT m.id FROM cabinet.import m
    WHERE (m.state = 'failed' AND m.finished_at < cabinet.now() - make_interval(days => $2::int))
      OR (m.state = 'done' AND m.channel = 'pull' AND m.finished_at < cabinet.now() - make_interval(days => $1::int))
    LIMIT $3::int)
  RETURNING 1`

/** $1 how many: marks of polls that are removed, by hand or with their source. */
const FORGET_MARKS = `
  DELETE FROM cabinet.poll_seen WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM cabinet.poll p JOIN cabinet.poll_seen s ON s.poll_id = p.id
    WHERE p.removed_at IS NOT NULL LIMIT $1::int))
  RETURNING 1`

/** One round; answers how many partitions, originals of the day in which they end, runs, imports and marks went. */
export const forgetOld = Effect.fnUntraced(function* ({ originalDays, logDays, failedLogDays }: RetentionOptions) {
  const sql = yield* PgClient.PgClient
  const originals = yield* dropOldPartitions(sql, "original_request", originalDays)
  const originalRows = yield* forgetOriginals(sql, originalDays)
  const inBites = Effect.fnUntraced(function* (statement: string, values: ReadonlyArray<number>) {
    let total = 0
    for (let count = DELETE_BATCH; count === DELETE_BATCH; total += count) {
      count = (yield* orUnavailable(sql.unsafe(statement, [...values, DELETE_BATCH]))).length
    }
    return total
  })
  const days = [logDays, Math.max(logDays, failedLogDays)]
  const runs = yield* inBites(FORGET_RUNS, days)
  const imports = yield* inBites(FORGET_IMPORTS, days)
  return { originals, originalRows, runs, imports, marks: yield* inBites(FORGET_MARKS, []) }
})

/** A round soon after the start, for a process that never lives long, and then twice an hour: an original goes within one. */
export const layer = (options: RetentionOptions) =>
  Layer.effectDiscard(
    instrument("retention.round", forgetOld(options)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("forgetting what is past its time will be tried again", cause)),
      Effect.delay("30 seconds"),
      Effect.repeat(Schedule.spaced("30 minutes")),
      Effect.forkScoped,
    ),
  )
