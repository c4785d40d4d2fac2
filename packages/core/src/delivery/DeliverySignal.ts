/**
 * Says that a delivery may have come due. Losing a signal costs a few seconds and nothing else: the loop also looks by
 * itself. An adapter may carry it to other processes.
 */
import { Context, Effect, Layer, Latch } from "effect"
import type { Scope } from "effect"

export class DeliverySignal extends Context.Service<
  DeliverySignal,
  {
    /** Called after a commit that made deliveries. Neither waits nor fails. */
    readonly wake: Effect.Effect<void>
    /**
     * A listener of one's own: the inner effect ends at the next signal, or at once when one came since it last ended.
     * Several signals in between are one.
     */
    readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@data-cabinet/core/delivery/DeliverySignal") {
  /** Within this process. */
  static readonly layer = Layer.sync(DeliverySignal, () => {
    const listeners = new Set<Latch.Latch>()
    return DeliverySignal.of({
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
    })
  })
}
