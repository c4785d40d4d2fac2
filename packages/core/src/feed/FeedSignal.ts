/**
 * Signals to the feed's followers that events were committed. A lost signal costs a moment and nothing else, because a
 * follower also checks by itself. An adapter can carry the signal to other processes.
 */
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import { LiveSet } from "../runtime/LiveSet.ts"

export class FeedSignal extends Context.Service<
  FeedSignal,
  {
    /** Called after every commit of events, on the path of intake: it only sets marks, and neither waits nor throws. */
    readonly wake: () => void
    /**
     * A listener for the caller alone: the inner effect completes at the next signal, or immediately if a signal arrived
     * since it last completed. Several signals in between count as one.
     */
    readonly listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
  }
>()("@data-cabinet/core/feed/FeedSignal") {
  /** Signals within this process only. */
  static readonly layer = Layer.sync(FeedSignal, () => {
    const listeners = new LiveSet<Latch.Latch>()
    return FeedSignal.of({
      wake: () => listeners.forEach((latch) => latch.openUnsafe()),
      listen: Effect.gen(function* () {
        const latch = Latch.makeUnsafe(false)
        const leave = listeners.add(latch)
        yield* Effect.addFinalizer(() => Effect.sync(leave))
        return Effect.tap(latch.await, () => Effect.sync(() => latch.closeUnsafe()))
      }),
    })
  })
}
