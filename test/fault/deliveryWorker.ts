/**
 * A worker in a process of its own, which may kill itself, as `kill -9` would, at a named step: `claimed` (nothing sent
 * yet), `sent` (answered, nothing written down) or `settled` (written down). Arguments: the database, the step or `never`.
 */
import { Courier } from "@data-cabinet/core/delivery/Courier"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { layer as loop } from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import { Effect, Layer } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"
import { sendingLayer } from "./deliveryLayers.ts"

const [url = "", step = "never"] = process.argv.slice(2)
const die = (here: string) => Effect.sync(() => (step === here ? process.kill(process.pid, "SIGKILL") : undefined))

const queue = Layer.effect(
  DeliveryQueue,
  DeliveryQueue.use((real) =>
    Effect.succeed(
      DeliveryQueue.of({
        ...real,
        claim: (request) =>
          Effect.tap(real.claim(request), (batch) => (batch.length > 0 ? die("claimed") : Effect.void)),
        settle: (batch) => Effect.tap(real.settle(batch), () => die("settled")),
      }),
    ),
  ),
)
const courier = Layer.effect(
  Courier,
  Courier.use((real) =>
    Effect.succeed(Courier.of({ send: (request) => Effect.tap(real.send(request), () => die("sent")) })),
  ),
)

const override = Layer.merge(queue, courier.pipe(Layer.provideMerge(sendingLayer())))
const worker = loop({ pollMillis: 200 }).pipe(Layer.provide(testCabinetLayer(url, { delivers: true, override })))
console.log("ready")
// The process lives as long as it is let.
setInterval(() => {}, 60_000)
Effect.runFork(Layer.launch(worker))
