/**
 * The faces in which cabinets are served over HTTP: a listener for Node's `(req, res)`, a handler for `fetch`, and a
 * server of its own. All three run the same app, which finds the cabinet by host and lets its routes answer.
 *
 * Compose: `Server.layer(options)` needs `Cabinets` and `Readiness`. One cabinet: `Cabinets.single` over
 * `CabinetHttp.layer` over that cabinet's ports and `HttpSettings`. Many: `Cabinets.many(domain, find)`, where `find`
 * builds (and remembers) a `CabinetHttp` a cabinet.
 */
import type { IncomingMessage } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { known } from "@data-cabinet/core/runtime/Course"
import { runAll, batcher } from "@data-cabinet/core/runtime/Batcher"
import { Cause, Context, Effect, Exit, Layer, Option, References, Scope } from "effect"
import { HttpEffect, HttpMiddleware, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../api/ApiError.ts"
import { faultError, logFault } from "../api/Fault.ts"
import { noSuchEndpoint } from "../api/NoSuchEndpoint.ts"
import type { Take } from "./CabinetHttp.ts"
import { Cabinets } from "../tenancy/Cabinets.ts"
import { cabinetUnavailable, unknownHost } from "../tenancy/UnknownHost.ts"
import { REQUEST_ID_HEADER, RequestId, requestId } from "./RequestId.ts"
import { metricsRoute, type MetricsFor, processRoutes } from "./ProcessRoutes.ts"
import { type Handler, Listener, type ListenOptions, type Stopping } from "./Listener.ts"
import { isWatched, plainly } from "./Plainly.ts"
import { addressOf, routeTable } from "./Route.ts"

export interface ServerOptions {
  /** Whether `/metrics` is served here, and to whom; false where it has a port of its own. */
  readonly metrics: MetricsFor
}

type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** What all faces run: the app, and what of it needs no fiber. */
const faces = Effect.fnUntraced(function* (options: ServerOptions, stopping: Stopping = { begun: false }) {
  const cabinets = yield* Cabinets
  const findProcess = routeTable(yield* processRoutes(options, stopping), cabinets.mountedAt)
  const answer: App = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const address = addressOf(request.url)
    const match = findProcess(address)
    if (match !== undefined) return match.route.handle(request, { params: match.params, query: address.query })
    return Effect.matchEffect(cabinets.byHost(hostOf(request)), {
      onFailure: (unavailable) => Effect.succeed(cabinetUnavailable(request, unavailable)),
      onSuccess: (found) =>
        Option.isSome(found) ? found.value.answer(request, address) : Effect.succeed(unknownHost(request)),
    })
  })
  const taking = (request: IncomingMessage): Take | undefined => {
    const found = known(cabinets.byHost(request.headers.host))
    return found !== undefined && Exit.isSuccess(found) && Option.isSome(found.value)
      ? found.value.value.taking?.(addressOf(request.url!))
      : undefined
  }
  return { app: runnable(identified(answer)), taking }
})

/** A `Request` that a program made itself has its host in its address alone. */
const hostOf = ({ headers, source }: HttpServerRequest.HttpServerRequest): string | undefined =>
  headers["host"] ?? (source instanceof Request ? new URL(source.url).host : undefined)

/** The request's id: on its answer, and on every line that is logged on the way. */
const identified = (answer: App): App =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    under(requestId(request.headers[REQUEST_ID_HEADER]), answer),
  )

const under = (id: string, answer: App): App =>
  Effect.map(Effect.updateContext(answer, withId(id)), HttpServerResponse.setHeader(REQUEST_ID_HEADER, id))

const withId =
  (id: string) =>
  <R>(context: Context.Context<R>): Context.Context<R> => {
    const annotations = { ...Context.get(context, References.CurrentLogAnnotations), requestId: id }
    return Context.add(Context.add(context, RequestId, id), References.CurrentLogAnnotations, annotations)
  }

/** Effect begins a request uninterruptible, but a client that hangs up is to stop its query. A last resort for faults. */
const runnable = (answer: App): App =>
  Effect.interruptible(
    Effect.catchCause(answer, (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.map(logFault({ path: "/" }, cause), (id) => errorResponse(faultError(id))),
    ),
  )

/** Effect's own span of a request holds its address and headers whole; ours does not (see RequestSpan). */
const UNTRACED = Context.make(HttpMiddleware.TracerDisabledWhen, () => true)

/** Effect keeps the fibers of a scope in a Map, which is what core's LiveSet says not to do; here few share a scope. */
const SCOPES = 256

/** `(req, res)` for node:http, Express, Koa or Fastify, mounted under any path. Lives as long as the scope. */
export const nodeHandler = Effect.fnUntraced(function* (options: ServerOptions, stopping?: Stopping) {
  const { app, taking } = yield* faces(options, stopping)
  // Answers are written only once all that were made with them are made.
  const write = batcher(queueMicrotask, runAll)
  /** Those of requests that were begun without a fiber. */
  const left = new WeakMap<object, App>()
  const written = Effect.flatMap(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ source }) => left.get(source) ?? app),
    (response) =>
      Effect.callback<HttpServerResponse.HttpServerResponse>((resume) => {
        write(() => resume(Effect.succeed(response)))
      }),
  )
  const oneHandler = Effect.flatMap(Scope.fork(yield* Scope.Scope, "parallel"), (scope) =>
    Effect.provide(NodeHttpServer.makeHandler(written, { scope }), UNTRACED),
  )
  const handlers = yield* Effect.replicateEffect(oneHandler, SCOPES)
  let turn = 0
  const handle: Handler = (request, response) => handlers[turn++ % SCOPES]!(request, response)
  const context = yield* Effect.context()
  if (isWatched(context)) return handle
  const taken = plainly({
    taking,
    write,
    named: (id) => withId(id)(context),
    finish: (request, response, id, answer) => {
      left.set(request, runnable(under(id, answer)))
      handle(request, response)
    },
  })
  const handler: Handler = (request, response) => {
    if (!taken(request, response)) handle(request, response)
  }
  return handler
})

/** `Request => Promise<Response>`, for frameworks that speak fetch. */
export const fetchHandler = Effect.fnUntraced(function* (options: ServerOptions) {
  const context = Context.merge(yield* Effect.context(), UNTRACED)
  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest>(context)(
    (yield* faces(options)).app,
  )
  return (request: Request): Promise<Response> => handler(request)
})

/** A server of its own. Stops by draining (see Listener); `/readyz` says so from the first moment. */
export const layer = (options: ServerOptions & ListenOptions) => {
  const stopping: Stopping = { begun: false }
  return Layer.unwrap(
    Effect.map(nodeHandler(options, stopping), (handler) => Listener.layer(handler, options, stopping)),
  )
}

/** The counters on a port of their own, with nothing else beside them. */
export const metricsLayer = (options: ListenOptions) => {
  const find = routeTable([metricsRoute])
  const answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const match = find(addressOf(request.url))
    return match === undefined ? Effect.succeed(noSuchEndpoint) : match.route.handle(request, { params: [], query: "" })
  })
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const handler = yield* NodeHttpServer.makeHandler(runnable(answer), { scope: yield* Scope.Scope })
      // Built here and not handed on: the server's own Listener is the one that others ask for.
      yield* Layer.build(Layer.fresh(Listener.layer(handler, options)))
    }),
  )
}
