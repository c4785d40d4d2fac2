/**
 * The three ways to serve cabinets over HTTP: a listener for Node's `(req, res)`, a handler for `fetch`, and a separate
 * server. All three pass a request to the same function, which finds the cabinet by host and runs its routes.
 *
 * Compose: `Server.layer(options)` needs `Cabinets` and `Readiness`. One cabinet: `Cabinets.single` over
 * `CabinetHttp.layer` over that cabinet's ports and `HttpSettings`. Many: `Cabinets.many(domain, find)`, where `find`
 * builds (and caches) one `CabinetHttp` per cabinet.
 */
import { Effect, Layer, Result } from "effect"
import { errorResponse, noSuchEndpoint } from "../server/ApiError.ts"
import { faultError, logFault } from "../server/Fault.ts"
import { Cabinets } from "./Cabinets.ts"
import { cabinetUnavailable, stoppedResponse, unknownHost } from "../tenancy/UnknownHost.ts"
import { effectRunner } from "../server/EffectRunner.ts"
import { fetchAdapter } from "../server/FetchAdapter.ts"
import { Listener, type ListenOptions, type Stopping } from "../server/Listener.ts"
import { nodeAdapter } from "../server/NodeAdapter.ts"
import { metricsRoute, type MetricsFor, processRoutes } from "./ProcessRoutes.ts"
import { type Response, type Handler, type Request, RequestGone } from "../server/Request.ts"
import { addressOf, routeTable } from "../server/Route.ts"

export interface ServerOptions {
  /** Whether `/metrics` is served here, and to whom; false if it has a port of its own. */
  readonly metrics: MetricsFor
}

/** The request handler of all three. */
const requestHandler = Effect.fnUntraced(function* (options: ServerOptions, stopping: Stopping = { begun: false }) {
  const cabinets = yield* Cabinets
  const findProcess = routeTable(yield* processRoutes(options, stopping), cabinets.mountedAt)
  return guarded(async (request) => {
    const address = addressOf(request.url)
    const match = findProcess(address)
    if (match !== undefined) return match.route.handle(request, { params: match.params, query: address.query })
    const found = await cabinets.byHost(request.host)
    if (Result.isFailure(found)) return cabinetUnavailable(request, found.failure)
    return found.success === undefined ? unknownHost(request) : found.success.handle(request, address)
  })
})

/** The last resort for faults outside any route. */
const guarded = (handle: (request: Request) => Promise<Response>): Handler => ({
  handle: async (request) => {
    try {
      return await handle(request)
    } catch (reason) {
      if (reason instanceof RequestGone) throw reason
      return errorResponse(faultError(logFault({ path: "/" }, reason, request.context)))
    }
  },
  stopped: stoppedResponse,
})

/** `(req, res)` for node:http, Express, Koa or Fastify, mounted under any path. Lives as long as the scope. */
export const nodeHandler = Effect.fnUntraced(function* (options: ServerOptions, stopping?: Stopping) {
  return nodeAdapter(yield* requestHandler(options, stopping), yield* Effect.context())
})

/** `Request => Promise<Response>`, for frameworks that speak fetch. */
export const fetchHandler = Effect.fnUntraced(function* (options: ServerOptions) {
  return fetchAdapter(yield* requestHandler(options), yield* Effect.context())
})

/** A separate server. It stops by draining (see Listener), which `/readyz` reports at once. */
export const layer = (options: ServerOptions & ListenOptions) => {
  const stopping: Stopping = { begun: false }
  return Layer.unwrap(
    Effect.map(nodeHandler(options, stopping), (handler) => Listener.layer(handler, options, stopping)),
  )
}

/** The metrics on a port of their own, and nothing else. */
export const metricsLayer = (options: ListenOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const find = routeTable([metricsRoute(yield* effectRunner)])
      const handle = guarded(async (request) => {
        const match = find(addressOf(request.url))
        return match === undefined ? noSuchEndpoint : match.route.handle(request, { params: [], query: "" })
      })
      // Built here and not exported: other code uses the server's own Listener.
      yield* Layer.build(Layer.fresh(Listener.layer(nodeAdapter(handle, yield* Effect.context()), options)))
    }),
  )
