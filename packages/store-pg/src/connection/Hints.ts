/**
 * Listens for notifications of PostgreSQL, as hints and no more: whoever may connect to the database may send them, on any
 * channel, as many as he likes, with 8,000 bytes each. So what is not a hint by its payload is dropped as it arrives, equal
 * ones are one, and work is done for what has gathered, and not more often than an honest sender would make it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Queue, Schedule } from "effect"

/** Between two rounds of work. An honest process sends no two notifications within this. */
export const HINT_PAUSE = "50 millis"

const AGAIN = "2 seconds"

export interface HintOptions<E, R> {
  readonly channel: string
  /** Whether a payload says anything. What gathers is bounded by how many of these there are. */
  readonly isHint: (payload: string) => boolean
  /** Run once notifications are heard: those of before are lost. */
  readonly onListening?: Effect.Effect<void>
  readonly work: (payloads: ReadonlySet<string>) => Effect.Effect<void, E, R>
}

/** Runs until it is interrupted, and listens again after a connection was lost. */
export const listenForHints = <E, R>({ channel, isHint, onListening = Effect.void, work }: HintOptions<E, R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const heard = yield* sql.listen(channel)
    yield* onListening
    let gathered = new Set<string>()
    const any = Latch.makeUnsafe(false)
    const gather = Effect.map(Queue.takeAll(heard), (notes) => {
      for (const { payload } of notes) if (isHint(payload)) gathered.add(payload)
      if (gathered.size > 0) any.openUnsafe()
    })
    const round = Effect.gen(function* () {
      yield* any.await
      any.closeUnsafe()
      const payloads = gathered
      gathered = new Set()
      yield* work(payloads)
      yield* Effect.sleep(HINT_PAUSE)
    })
    return yield* Effect.raceFirst(Effect.forever(gather), Effect.forever(round))
  }).pipe(Effect.scoped, Effect.retry(Schedule.spaced(AGAIN)))
