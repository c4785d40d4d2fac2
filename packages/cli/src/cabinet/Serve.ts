/**
 * A server: database, composition, work and HTTP, opened one after the other and closed in the reverse order, so that
 * requests under way are answered and deliveries under way are settled before their database goes.
 */
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { metricsRoute } from "@data-cabinet/http-node/cabinet/ProcessRoutes"
import { Listener, type ListenError } from "@data-cabinet/http-node/Listener"
import * as Server from "@data-cabinet/http-node/Server"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { listeningUrl, noteBaseUrl } from "./BaseUrl.ts"
import { type CabinetDatabase, cabinetDatabase } from "./CabinetDatabase.ts"
import { cabinetLayer } from "./CabinetLayer.ts"
import { type FirstThings, firstThings } from "./FirstStart.ts"
import { httpLayer } from "./HttpLayer.ts"
import { openMany } from "./OpenMany.ts"
import type { Settings } from "./Settings.ts"
import { StartError } from "./StartError.ts"
import { housekeepingLayer, pollingLayer, workLayer } from "./WorkLayer.ts"

export interface ServeOptions {
  readonly settings: Settings
  /** False where other processes (`cabinet work`) send deliveries. */
  readonly delivery: boolean
  /** False where other processes run the polls. */
  readonly poll: boolean
}

export interface Served {
  readonly baseUrl: string
  readonly database: CabinetDatabase
  /** What was made because the cabinet had nothing yet; null for every later start. */
  readonly first: FirstThings | null
}

const notListening = (error: ListenError): StartError => {
  const advice =
    error.code === "address_in_use"
      ? " Stop it, or choose another port with --port or PORT."
      : error.code === "not_permitted"
        ? " Choose a port from 1024 with --port or PORT."
        : " Choose another with --host or HOST."
  return new StartError({ code: "port_taken", message: error.message + advice })
}

/** The address has to be known before anything listens; whoever takes the port in between is told of as usual. */
const freePort = (host: string) =>
  Effect.callback<number, StartError>((resume) => {
    const probe = createServer()
    probe.once("error", (error) =>
      resume(
        Effect.fail(new StartError({ code: "port_taken", message: `Cannot listen on ${host}: ${error.message}.` })),
      ),
    )
    probe.listen(0, host, () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resume(Effect.succeed(port)))
    })
  })

const serveMetrics = Effect.fnUntraced(function* (host: string, port: number) {
  const scope = yield* Scope.Scope
  const answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    request.url === "/metrics"
      ? metricsRoute.handle(request, { params: [], query: "" })
      : Effect.succeed(HttpServerResponse.empty({ status: 404 })),
  )
  const handler = yield* NodeHttpServer.makeHandler(answer, { scope })
  yield* Layer.build(Listener.layer(handler, { host, port, drainMillis: 0 }))
})

/** Serves until the scope closes. */
export const serve = ({ settings, delivery, poll }: ServeOptions): Effect.Effect<Served, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* cabinetDatabase(settings, "serve")
    const { host, metricsPort } = settings
    const port = settings.port === 0 ? yield* freePort(host) : settings.port
    const baseUrl = settings.baseUrl ?? listeningUrl(host, port)

    const { serviceDomain } = settings
    if (serviceDomain !== null) {
      const faces = yield* openMany({ database, settings, serviceDomain, delivers: delivery, polls: poll })
      if (metricsPort !== null) yield* Effect.mapError(serveMetrics(host, metricsPort), notListening)
      const all = Server.layer({ host, port, metrics: metricsPort === null })
      yield* Effect.mapError(Layer.build(Layer.provide(all, Layer.succeedContext(faces))), notListening)
      return { baseUrl, database, first: null }
    }
    const cabinet = yield* Effect.mapError(
      Layer.build(cabinetLayer({ ...database, settings, delivers: delivery })),
      (error) => new StartError({ code: "database_unreachable", message: error.message }),
    )
    const provided = Layer.succeedContext(cabinet)
    const work = delivery ? Layer.merge(housekeepingLayer, workLayer(settings)) : housekeepingLayer
    yield* Layer.build(Layer.provide(poll ? Layer.merge(work, pollingLayer) : work, provided))

    if (metricsPort !== null) yield* Effect.mapError(serveMetrics(host, metricsPort), notListening)
    const http = Server.layer({ host, port, metrics: metricsPort === null }).pipe(
      Layer.provide(httpLayer({ baseUrl, settings })),
      Layer.provide(provided),
    )
    yield* Effect.mapError(Layer.build(http), notListening)
    if (database.dataDir !== null) noteBaseUrl(database.dataDir, baseUrl)
    const first = yield* Effect.provideContext(firstThings, cabinet).pipe(
      Effect.mapError((error) => new StartError({ code: "database_unfit", message: error.message })),
    )
    return { baseUrl, database, first }
  })
