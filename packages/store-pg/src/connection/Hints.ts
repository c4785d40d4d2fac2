/**
 * Listens for notifications of PostgreSQL, which are treated as mere hints: any user of the database may send them, on
 * any channel, in any number, with 8,000 bytes each. So a payload that is not a hint is dropped on arrival, equal ones
 * are coalesced, and work runs once for all that have accumulated, no more often than an honest sender would cause.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Queue, Schedule } from "effect"

/** The pause between two rounds of work. An honest process sends no two notifications within this time. */
export const HINT_PAUSE = "50 millis"

const RETRY_INTERVAL = "2 seconds"

export interface HintOptions<E, R> {
  readonly channel: string
  /** Whether a payload is a hint. The number of distinct hints bounds what can accumulate. */
  readonly isHint: (payload: string) => boolean
  /** Run once listening has begun: earlier notifications are lost. */
  readonly onListening?: Effect.Effect<void>
  readonly work: (payloads: ReadonlySet<string>) => Effect.Effect<void, E, R>
}

/** Runs until interrupted, and listens again after a lost connection. */
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
  }).pipe(Effect.scoped, Effect.retry(Schedule.spaced(RETRY_INTERVAL)))
