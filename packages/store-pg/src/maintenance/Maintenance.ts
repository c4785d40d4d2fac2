/**
 * Periodic maintenance, off the hot path: creates partitions ahead of time, and deletes expired repeat windows, which
 * last five minutes, in small batches. Any number of processes may run it at once.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schedule } from "effect"

const PARTITIONED = ["cabinet.original_request", "cabinet.attempt_delivered", "cabinet.attempt_failed"]

const MARKS_PER_SLICE = 5_000

export const makePartitions = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* Effect.forEach(PARTITIONED, (parent) => sql`SELECT cabinet.make_partitions(${parent}::text::regclass)`, {
    discard: true,
  })
})

/** Deletes expired repeat windows until a batch is not full. */
export const forgetRepeatMarks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  while (true) {
    const gone = yield* sql`
      DELETE FROM cabinet.repeat_window WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM cabinet.repeat_window WHERE first_at < cabinet.now() - interval '6 minutes'
        LIMIT ${MARKS_PER_SLICE} FOR UPDATE SKIP LOCKED))
      RETURNING 1`
    if (gone.length < MARKS_PER_SLICE) return
  }
})

const every = <E>(work: Effect.Effect<void, E, PgClient.PgClient>, name: string, pause: "30 seconds" | "1 hour") =>
  work.pipe(
    Effect.catchCause((cause) => Effect.logWarning(`${name} failed and will be tried again`, cause)),
    Effect.repeat(Schedule.spaced(pause)),
    Effect.forkScoped,
  )

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* every(makePartitions, "making partitions ahead", "1 hour")
    yield* every(forgetRepeatMarks, "emptying repeat marks", "30 seconds")
  }),
)
