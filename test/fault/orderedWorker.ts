/**
 * A process that serves addresses in order, to be killed and stopped: `orderedWorker.ts databaseUrl leaseMillis`. Failed
 * attempts are repeated by the shifted clock of the database.
 */
import { layer as dispatcher } from "@data-cabinet/delivery/delivery/OrderedDispatcher"
import { Effect, Layer, References } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"
import { sendingLayer } from "./deliveryLayers.ts"

const [url = "", leaseMillis = "3000"] = process.argv.slice(2)
const cabinet = testCabinetLayer(url, { delivers: true, override: sendingLayer({ deadlineMillis: 1_000 }) })
const worker = dispatcher({ leaseMillis: Number(leaseMillis), attemptMillis: 1_000, pollMillis: 200 }).pipe(
  Layer.provide(cabinet),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal")),
)
process.send?.("ready")
Effect.runFork(Layer.launch(worker))
