/**
 * A process that serves addresses in order, and sends events again beside the order, to be killed and stopped:
 * `orderedWorker.ts databaseUrl leaseMillis`. Failed attempts are repeated by the shifted clock of the database.
 */
import { layer as resends } from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import { layer as dispatcher } from "@data-cabinet/delivery/delivery/OrderedDispatcher"
import { Effect, Layer, References } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"
import { sendingLayer } from "./deliveryLayers.ts"

/** A busy receiver is no failure, after which an event would come once more. */
const ATTEMPT_MILLIS = 4_000

const [url = "", leaseMillis = "3000"] = process.argv.slice(2)
const cabinet = testCabinetLayer(url, { delivers: true, override: sendingLayer({ deadlineMillis: ATTEMPT_MILLIS }) })
const worker = Layer.merge(
  dispatcher({ leaseMillis: Number(leaseMillis), attemptMillis: ATTEMPT_MILLIS, pollMillis: 200 }),
  resends({ leaseSeconds: Number(leaseMillis) / 1000 + 1, pollMillis: 200 }),
).pipe(Layer.provide(cabinet), Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal")))
process.send?.("ready")
Effect.runFork(Layer.launch(worker))
