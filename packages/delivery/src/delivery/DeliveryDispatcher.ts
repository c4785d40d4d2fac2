/**
 * Serves the delivery queue until its scope ends: claims due deliveries, sends them, and settles them in batches. There are
 * two lanes, so that failing addresses never use up the slots of working ones. Any number of dispatchers may run in any
 * number of processes; a delivery that one of them drops is due again when its lease ends.
 *
 * Closing drains: nothing more is claimed, attempts in flight get a few seconds, and the rest is settled as without a response.
 */
import { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { BackgroundBegins } from "@data-cabinet/core/runtime/Background"
import { Effect, FiberSet, Layer, type Scope } from "effect"
import { Lane, type LaneLimits } from "./Lane.ts"
import { settlementBatcher } from "./SettlementBatcher.ts"
import { HEALTHY, FAILING, DispatchLane } from "./DispatchLane.ts"
import { DeliveryDispatcher, DEFAULT_LEASE_SECONDS } from "./DispatchLoops.ts"

export interface DispatcherOptions {
  readonly healthy?: Partial<LaneLimits>
  readonly failing?: Partial<LaneLimits>
  /** How often the queue is read without a signal. Default 5,000. */
  readonly pollMillis?: number
  /** How long a claim is valid; longer than an attempt and its settlement. Default 60. */
  readonly leaseSeconds?: number
  /** How long closing waits for attempts in flight. Default 5,000. */
  readonly drainMillis?: number
}
const CHECK_MILLIS = 250

const run: (
  options: DispatcherOptions,
) => Effect.Effect<void, never, DeliveryQueue | AttemptDelivery | DeliverySignal | Scope.Scope> = Effect.fnUntraced(
  function* (options) {
    const lanes = [
      new DispatchLane(new Lane("healthy", { ...HEALTHY, ...options.healthy })),
      new DispatchLane(new Lane("failing", { ...FAILING, ...options.failing })),
    ]
    const claimAll = Effect.sync(() => lanes.forEach(({ mayClaim }) => mayClaim.openUnsafe()))
    const onSettled = Effect.suspend(() => {
      const changed = lanes.some(({ changesOnSettlement }) => changesOnSettlement)
      for (const state of lanes) state.changesOnSettlement = false
      return changed ? claimAll : Effect.void
    })
    const settlements = yield* settlementBatcher({
      onSettled,
      leaseMillis: (options.leaseSeconds ?? DEFAULT_LEASE_SECONDS) * 1000,
    })
    const parts = {
      queue: yield* DeliveryQueue,
      deliver: yield* AttemptDelivery,
      settlements,
      senders: yield* FiberSet.make<void>(),
    }
    const dispatcher = new DeliveryDispatcher(parts, lanes, options)
    // Scopes close in reverse order: the claim loops end first, then the attempts in flight drain.
    yield* Effect.addFinalizer(() => dispatcher.drain)
    const signalled = yield* (yield* DeliverySignal).listen
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(signalled, claimAll)))
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.andThen(
          Effect.sleep(CHECK_MILLIS),
          Effect.suspend(() => dispatcher.check),
        ),
      ),
    )
    const begins = yield* BackgroundBegins
    for (const state of lanes) yield* Effect.forkScoped(Effect.andThen(begins, dispatcher.serve(state)))
  },
)

export const layer = (options: DispatcherOptions = {}) => Layer.effectDiscard(run(options))
