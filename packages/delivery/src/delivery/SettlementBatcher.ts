/**
 * Collects the outcomes of attempts and records them in batches: the first at once, the following ones in one batch a
 * moment later, because one statement for a hundred outcomes costs a tenth of a hundred statements.
 */
import { DeliveryQueue, type Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Clock, Effect, Latch } from "effect"

const MAX_BATCH = 500
const COLLECT_MILLIS = 25
const RETRY_MILLIS = 1000
/** How long closing waits for the database to record the last outcomes. */
const FLUSH_MILLIS = 5000
const FLUSH_CHECK_MILLIS = 5

interface Options {
  /** Runs after each recorded batch. */
  readonly onSettled: Effect.Effect<void>
  /** How long a failed batch is retried: once its leases have ended, its deliveries are due again anyway. */
  readonly leaseMillis: number
}

export class SettlementBatcher {
  readonly #queue: DeliveryQueue["Service"]
  readonly #options: Options
  /** Written by `add`, emptied by the loop. */
  readonly #pending: Array<Settlement> = []
  readonly #hasPending = Latch.makeUnsafe(false)
  #recording = false

  constructor(queue: DeliveryQueue["Service"], options: Options) {
    this.#queue = queue
    this.#options = options
  }

  add(settlement: Settlement): void {
    this.#pending.push(settlement)
    this.#hasPending.openUnsafe()
  }

  /** Records batch after batch, forever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => Effect.forever(this.#next))

  /** Waits until everything added so far is recorded, for a few seconds at most. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() =>
    Effect.repeat(Effect.sleep(FLUSH_CHECK_MILLIS), { until: () => this.#pending.length === 0 && !this.#recording }),
  ).pipe(Effect.timeoutOption(FLUSH_MILLIS), Effect.asVoid)

  get #next(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#pending.length > 0) return Effect.andThen(this.#record, Effect.sleep(COLLECT_MILLIS))
      this.#hasPending.closeUnsafe()
      return this.#hasPending.await
    })
  }

  get #record(): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      const batch = this.#pending.splice(0, MAX_BATCH)
      this.#recording = true
      const done = Effect.andThen(
        Effect.sync(() => void (this.#recording = false)),
        this.#options.onSettled,
      )
      return Effect.andThen(this.#settle(batch, clock.currentTimeMillisUnsafe() + this.#options.leaseMillis), done)
    })
  }

  #settle(batch: ReadonlyArray<Settlement>, until: number): Effect.Effect<void> {
    return Effect.catchCause(this.#queue.settle(batch), (cause) =>
      Effect.gen({ self: this }, function* () {
        const expired = (yield* Clock.currentTimeMillis) > until
        yield* Effect.logWarning(`Attempts cannot be recorded${expired ? "; they are dropped" : " yet"}.`, cause)
        if (expired) return
        yield* Effect.sleep(RETRY_MILLIS)
        yield* this.#settle(batch, until)
      }),
    )
  }
}

/** Runs as long as its scope. */
export const settlementBatcher = Effect.fnUntraced(function* (options: Options) {
  const batcher = new SettlementBatcher(yield* DeliveryQueue, options)
  yield* Effect.forkScoped(batcher.run)
  return batcher
})
