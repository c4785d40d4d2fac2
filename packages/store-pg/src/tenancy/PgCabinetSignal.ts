/** Which cabinets are in use, told by the processes that serve them to those that work for them, through the server's own database. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Queue, Schedule } from "effect"

const CHANNEL = "cabinet_in_use"

/** A word that is lost does no harm: the round finds the work later. */
export const tell = (name: string) => PgClient.PgClient.use((sql) => Effect.ignore(sql.notify(CHANNEL, name)))

/** Runs `work` for each name that is told, until it is interrupted. */
export const hear = <E, R>(work: (name: string) => Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const told = yield* sql.listen(CHANNEL)
    yield* Effect.forever(Effect.flatMap(Queue.take(told), (note) => work(note.payload)))
  }).pipe(Effect.scoped, Effect.retry(Schedule.spaced("2 seconds")))
