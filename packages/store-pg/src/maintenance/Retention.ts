/**
 * Deletes expired data, by the cabinet's own clock: original requests, runs of polls, records of imports that are no
 * longer needed, the seen marks of removed polls, and idempotency records. The delivery queue deletes its own attempts.
 * Events and rows are never deleted by age.
 *
 * Nothing here holds a lock that accepting an event would wait for. Any number of processes may run it.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { instrument } from "@data-cabinet/core/runtime/Instrument"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { deleteOriginals } from "./OldOriginals.ts"
import { dropOldPartitions } from "../connection/OldPartitions.ts"

export interface RetentionOptions {
  /** How many whole days original requests are kept. */
  readonly originalDays: number
  /** How many whole days runs of polls are kept, and failed ones, which are kept at least as long. */
  readonly logDays: number
  readonly failedLogDays: number
  /** How many whole days the audit log is kept. */
  readonly auditDays: number
}

const DELETE_BATCH = 2_000

/**
 * $1: days, $2: days for failed ones, $3: how many. The last run of a poll always stays, because it shows the poll's
 * state.
 */
const DELETE_RUNS = `
  DELETE FROM cabinet.poll_run WHERE id IN (
    SELECT r.id FROM cabinet.poll_run r
    WHERE r.at < cabinet.now() - make_interval(days => CASE r.outcome WHEN 'failed' THEN $2::int ELSE $1::int END)
      AND EXISTS (SELECT FROM cabinet.poll_run later WHERE later.poll_id = r.poll_id AND later.id > r.id)
    LIMIT $3::int)
  RETURNING 1`

/**
 * $1: days, $2: days for failed ones, $3: how many. An import of a poll's new items can go, because the poll's run
 * describes it completely. The record of an imported file stays, because it identifies the file if it is submitted
 * again.
 */
const DELETE_IMPORTS = `
  DELETE FROM cabinet.import WHERE id IN (
    SELECT m.id FROM cabinet.import m
    WHERE (m.state = 'failed' AND m.finished_at < cabinet.now() - make_interval(days => $2::int))
      OR (m.state = 'done' AND m.channel = 'pull' AND m.finished_at < cabinet.now() - make_interval(days => $1::int))
    LIMIT $3::int)
  RETURNING 1`

/** $1: how many. Seen marks of polls that were removed, alone or with their source. */
const DELETE_SEEN_MARKS = `
  DELETE FROM cabinet.poll_seen WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM cabinet.poll p JOIN cabinet.poll_seen s ON s.poll_id = p.id
    WHERE p.removed_at IS NOT NULL LIMIT $1::int))
  RETURNING 1`

/** $1: how many. Kept as long as `Idempotency` keeps them. */
const DELETE_IDEMPOTENCY = `
  DELETE FROM cabinet.idempotency WHERE id IN (
    SELECT i.id FROM cabinet.idempotency i WHERE i.begun_at < cabinet.now() - interval '24 hours' LIMIT $1::int)
  RETURNING 1`

/**
 * One round; returns the number of deleted partitions, original requests of the partly expired day, runs, imports,
 * seen marks and idempotency records.
 */
export const deleteExpired = Effect.fnUntraced(function* ({
  originalDays,
  logDays,
  failedLogDays,
  auditDays,
}: RetentionOptions) {
  const sql = yield* PgClient.PgClient
  const originals = yield* dropOldPartitions(sql, "original_request", originalDays)
  const audits = yield* dropOldPartitions(sql, "audit", auditDays)
  const originalRows = yield* deleteOriginals(sql, originalDays)
  const inSlices = Effect.fnUntraced(function* (statement: string, values: ReadonlyArray<number>) {
    let total = 0
    for (let count = DELETE_BATCH; count === DELETE_BATCH; total += count) {
      count = (yield* orUnavailable(sql.unsafe(statement, [...values, DELETE_BATCH]))).length
    }
    return total
  })
  const days = [logDays, Math.max(logDays, failedLogDays)]
  const runs = yield* inSlices(DELETE_RUNS, days)
  const imports = yield* inSlices(DELETE_IMPORTS, days)
  const marks = yield* inSlices(DELETE_SEEN_MARKS, [])
  const keyed = yield* inSlices(DELETE_IDEMPOTENCY, [])
  return { originals, audits, originalRows, runs, imports, marks, keyed }
})

/**
 * The first round runs soon after the start, for processes that do not live long; then twice an hour, so that an
 * original request is deleted within an hour.
 */
export const layer = (options: RetentionOptions) =>
  Layer.effectDiscard(
    background("retention", "30 minutes", instrument("retention.round", deleteExpired(options)), {
      firstAfter: "30 seconds",
    }),
  )
