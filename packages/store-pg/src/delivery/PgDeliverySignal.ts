/**
 * Carries the signal to the loops of other processes by NOTIFY after the commit, at most once per 50 ms: a NOTIFY in
 * every accept cost four fifths of the throughput when measured. Within this process the signal is immediate.
 */
import { PgClient } from "@effect/sql-pg"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { Effect, Latch, Layer } from "effect"
import { HINT_PAUSE, listenForHints } from "../connection/Hints.ts"

export const CHANNEL = "cabinet_delivery"
const PAYLOAD = ""

/** How long a process that shuts down waits for the database to accept its last notification. */
const LAST_NOTIFICATION_TIMEOUT = "2 seconds"

const make = (hears: boolean) =>
  Layer.effect(
    DeliverySignal,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const here = yield* DeliverySignal
      /** Open while other processes are still to be notified. */
      const untold = Latch.makeUnsafe(false)
      const tell = Effect.suspend(() => {
        untold.closeUnsafe()
        return Effect.ignore(sql.notify(CHANNEL, PAYLOAD))
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => untold.openUnsafe())))
      // A command exits right after its commit. This finalizer is added before the loop, and so runs after it.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => (untold.isOpen() ? Effect.timeoutOption(tell, LAST_NOTIFICATION_TIMEOUT) : Effect.void)),
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
        // For signals sent while no process listened.
        onListening: here.wake,
        work: () => here.wake,
      })
      if (hears) yield* Effect.forkScoped(hear)
      const tellOthers = Effect.sync(() => void untold.openUnsafe())
      return DeliverySignal.of({ ...here, wake: Effect.andThen(here.wake, tellOthers) })
    }),
  ).pipe(Layer.provide(DeliverySignal.layer))

/** Sends and receives the signal: for a process that delivers. Holds one connection of the pool for listening. */
export const layer = make(true)

/** Only sends the signal: for a process that accepts and does not deliver. */
export const layerSender = make(false)
