/**
 * no database: our own server as shipped, with a log that responds at once. It measures only HTTP, the counts of the
 * client and the source, parsing, the fingerprint and the response.
 */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as Server from "@data-cabinet/http-node/routes/Server"
import { Context, Effect, Layer, References, Result } from "effect"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { boundHeap } from "../../../packages/cli/src/process/Heap.ts"
import { httpLayer } from "../../../packages/cli/src/compose/HttpLayer.ts"
import { openCabinet } from "./openCabinet.ts"

let id = 0
const atOnce = Layer.succeed(EventLog, {
  append: async ({ events }) => Result.succeed(events.map(({ empty }) => ({ id: ++id, repeatOf: null, empty }))),
})

const serve = Effect.gen(function* () {
  const { cabinet, settings } = yield* openCabinet()
  const { intakeSecret } = yield* Context.get(cabinet, Sources).create({ name: "Orders" })
  const intake = yield* Layer.build(
    Intake.layer.pipe(Layer.provide(atOnce), Layer.provide(Layer.succeedContext(cabinet))),
  )
  const http = Server.layer({ host: "127.0.0.1", port: 0, metrics: true }).pipe(
    Layer.provide(httpLayer({ baseUrl: "http://127.0.0.1", baseUrlKnown: true, settings })),
    Layer.provide(Layer.succeedContext(Context.merge(cabinet, intake))),
    // As `serve` does without a collector of traces.
    Layer.provide(Layer.succeed(References.TracerEnabled, false)),
  )
  const { port } = Context.get(yield* Layer.build(http), Listener)
  process.stdout.write(`${JSON.stringify({ port, path: `/webhook/${intakeSecret}` })}\n`)
  yield* Effect.never
})

boundHeap()
process.once("SIGINT", () => process.exit(0))
await Effect.runPromise(Effect.scoped(serve))
