/** Claims and settles deliveries as fast as the queue gives them; nothing is sent. */
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Context, Effect } from "effect"
import { onLines } from "./onLines.ts"
import { openCabinet } from "./openCabinet.ts"

const BATCH = 100

const drive = Effect.gen(function* () {
  const { cabinet } = yield* openCabinet()
  const queue = Context.get(cabinet, DeliveryQueue)
  const once = Effect.gen(function* () {
    const claimed = yield* queue.claim({
      lane: "healthy",
      limit: BATCH,
      perAddress: BATCH,
      room: new Map(),
      after: 0,
      leaseSeconds: 60,
    })
    yield* queue.settle(
      claimed.map(({ id, attempt }) => ({
        deliveryId: id,
        attempt,
        outcome: { status: 204, failure: null, peer: "127.0.0.1", durationMs: 1, timing: null, responseBody: null },
        next: { state: "delivered" },
      })),
    )
    return claimed.length
  })
  yield* Effect.promise(() =>
    onLines(async ({ seconds }) => {
      const began = performance.now()
      let done = 0
      while (seconds !== undefined && performance.now() - began < (seconds as number) * 1000) {
        const count = await Effect.runPromise(once)
        if (count === 0) break
        done += count
      }
      return { done, seconds: (performance.now() - began) / 1000 }
    }),
  )
})

await Effect.runPromise(Effect.scoped(drive))
