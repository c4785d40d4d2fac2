/**
 * Gathers what came of attempts and writes it down in batches: the first at once, what comes meanwhile together, and a
 * moment later, for one statement of a hundred costs a tenth of a hundred statements.
 */
import { DeliveryQueue, type Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Clock, Effect, Latch } from "effect"

const BATCH = 500
const GATHER_MILLIS = 25
const RETRY_MILLIS = 1000
/** How long closing waits for the database to take the last ones. */
const FLUSH_MILLIS = 5000

/**
 * `settled` runs after each batch. While the database is away a batch is tried again until its leases have ended;
 * then its deliveries are due again anyway, and it is dropped.
 */
export const makeSettler = Effect.fnUntraced(function* (settled: Effect.Effect<void>, leaseMillis: number) {
  const queue = yield* DeliveryQueue
  const some = Latch.makeUnsafe(false)
  const waiting: Array<Settlement> = []
  let writing = false

  const write = Effect.gen(function* () {
    const batch = waiting.splice(0, BATCH)
    writing = true
    const until = (yield* Clock.currentTimeMillis) + leaseMillis
    const attempt: Effect.Effect<void> = queue.settle(batch).pipe(
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          const late = (yield* Clock.currentTimeMillis) > until
          yield* Effect.logWarning(`Attempts could not be written down${late ? "; they are dropped" : " yet"}.`, cause)
          if (late) return
          yield* Effect.sleep(RETRY_MILLIS)
          yield* attempt
        }),
      ),
    )
    yield* attempt
    writing = false
    yield* settled
  })

  yield* Effect.gen(function* () {
    if (waiting.length === 0) {
      some.closeUnsafe()
      yield* some.await
    }
    yield* write
    yield* Effect.sleep(GATHER_MILLIS)
  }).pipe(Effect.forever, Effect.forkScoped)

  const flush = Effect.timeoutOption(
    Effect.repeat(Effect.sleep(5), { until: () => waiting.length === 0 && !writing }),
    FLUSH_MILLIS,
  ).pipe(Effect.asVoid)

  return {
    add: (settlement: Settlement): void => {
      waiting.push(settlement)
      some.openUnsafe()
    },
    flush,
  }
})
