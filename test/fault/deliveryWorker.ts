/**
 * A worker in a separate process that kills itself, like `kill -9`, at a given step: `claimed` (nothing sent yet), `sent`
 * (response received, nothing recorded) or `settled` (recorded). Arguments: the database, the step or `never`.
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
// The process runs until it is killed.
setInterval(() => {}, 60_000)
Effect.runFork(Layer.launch(worker))
