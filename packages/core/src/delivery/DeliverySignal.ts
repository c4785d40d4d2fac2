/**
 * Signals that a delivery may have become due. A lost signal costs a few seconds and nothing else, because the loop also
 * polls. An adapter can carry the signal to other processes.
 */
import { Context, Effect, Layer, Latch } from "effect"
import type { Scope } from "effect"

/** One signal, and who listens to it. */
export interface WorkSignal {
  /** Called after a commit that created work. Neither waits nor fails. */
  readonly wake: Effect.Effect<void>
  /**
   * A listener for the caller alone: the inner effect completes at the next signal, or immediately if a signal arrived
   * since it last completed. Several signals in between count as one.
   */
  readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
}

const localSignal = (): WorkSignal => {
  const listeners = new Set<Latch.Latch>()
  return {
    wake: Effect.sync(() => {
      for (const latch of listeners) latch.openUnsafe()
    }),
    listen: Effect.acquireRelease(
      Effect.sync(() => {
        const latch = Latch.makeUnsafe(false)
        listeners.add(latch)
        return latch
      }),
      (latch) => Effect.sync(() => listeners.delete(latch)),
    ).pipe(Effect.map((latch) => Effect.tap(latch.await, () => Effect.sync(() => latch.closeUnsafe())))),
  }
}

/** The signal itself means that there are deliveries. */
export class DeliverySignal extends Context.Service<
  DeliverySignal,
  WorkSignal & {
    /**
     * Says that an event has deliveries to be written. The signal stays within its process; other processes look every
     * second.
     */
    readonly fanOut: WorkSignal
  }
>()("@data-cabinet/core/delivery/DeliverySignal") {
  /** Signals within this process only. */
  static readonly layer = Layer.sync(DeliverySignal, () =>
    DeliverySignal.of({ ...localSignal(), fanOut: localSignal() }),
  )
}
