/**
 * no database: our own server, its intake over ports that answer at once. What is left is HTTP, parsing, the fingerprint
 * and the answer. The database is there for the parts of a server that are not asked.
 */
import { randomBytes } from "node:crypto"
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Admission } from "@data-cabinet/core/limit/Admission"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as Server from "@data-cabinet/http-node/Server"
import { Context, Effect, Layer, References } from "effect"
import { Listener } from "@data-cabinet/http-node/Listener"
import { httpLayer } from "../../../packages/cli/src/cabinet/HttpLayer.ts"
import { openCabinet } from "./openCabinet.ts"

const secret = randomBytes(24).toString("base64url")
const source = { id: 1, version: 1, encoding: null, thanksUrl: null }
const pass = Effect.succeed({ allowed: true, limit: 1, remaining: 1, retryAfter: 0, whose: "source" as const })
let id = 0

const serve = Effect.gen(function* () {
  const { cabinet, settings } = yield* openCabinet()
  const atOnce = Layer.mergeAll(
    Layer.succeed(EventLog, {
      append: ({ events }) => Effect.succeed(events.map(({ empty }) => ({ id: ++id, repeatOf: null, empty }))),
    }),
    Layer.succeed(Admission, {
      key: () => Effect.succeed(null),
      intake: () => pass,
    }),
    Layer.succeed(Sources, {
      ...Context.get(cabinet, Sources),
      remembered: (given) => (given === secret ? source : undefined),
      bySecret: () => Effect.succeedNone,
    }),
  )
  const intake = yield* Layer.build(Layer.provide(Intake.layer, atOnce))
  const http = Server.layer({ host: "127.0.0.1", port: 0, metrics: true }).pipe(
    Layer.provide(httpLayer({ baseUrl: "http://127.0.0.1", settings })),
    Layer.provide(Layer.succeedContext(Context.merge(cabinet, intake))),
    // As `serve` does it where nobody collects traces.
    Layer.provide(Layer.succeed(References.TracerEnabled, false)),
  )
  const { port } = Context.get(yield* Layer.build(http), Listener)
  process.stdout.write(`${JSON.stringify({ port, path: `/webhook/${secret}` })}\n`)
  yield* Effect.never
})

process.once("SIGINT", () => process.exit(0))
await Effect.runPromise(Effect.scoped(serve))
