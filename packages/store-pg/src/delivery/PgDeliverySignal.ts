/**
 * Carries the signal to the loops of other processes: NOTIFY after the commit, at most one in 50 ms, because notifying
 * in every accept was measured to cost four fifths of the throughput. Within this process the signal is immediate.
 */
import { PgClient } from "@effect/sql-pg"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { Effect, Latch, Layer } from "effect"
import { HINT_PAUSE, listenForHints } from "../connection/Hints.ts"

export const CHANNEL = "cabinet_delivery"
const PAYLOAD = ""

/** How long a process that ends waits for the database to take what it has not told yet. */
const LAST_WORDS = "2 seconds"

const make = (hears: boolean) =>
  Layer.effect(
    DeliverySignal,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const here = yield* DeliverySignal
      /** Open while the others are still to be told. */
      const untold = Latch.makeUnsafe(false)
      const tell = Effect.suspend(() => {
        untold.closeUnsafe()
        return Effect.ignore(sql.notify(CHANNEL, PAYLOAD))
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => untold.openUnsafe())))
      // A command ends as soon as it has committed. Added before the loop, and so run after it.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => (untold.isOpen() ? Effect.timeoutOption(tell, LAST_WORDS) : Effect.void)),
      )
      yield* untold.await.pipe(
        Effect.andThen(tell),
        Effect.andThen(Effect.sleep(HINT_PAUSE)),
        Effect.forever,
        Effect.forkScoped,
      )
      const hear = listenForHints({
        channel: CHANNEL,
        isHint: (payload) => payload === PAYLOAD,
        // For what was said while nobody listened.
        onListening: here.wake,
        work: () => here.wake,
      })
      if (hears) yield* Effect.forkScoped(hear)
      const tellOthers = Effect.sync(() => void untold.openUnsafe())
      return DeliverySignal.of({ listen: here.listen, wake: Effect.andThen(here.wake, tellOthers) })
    }),
  ).pipe(Layer.provide(DeliverySignal.layer))

/** Tells it and hears it: for a process that delivers. Holds one connection of the pool for listening. */
export const layer = make(true)

/** Tells it only: for a process that accepts and does not deliver. */
export const layerSender = make(false)
