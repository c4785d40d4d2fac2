/** Everything of one cabinet that is reached over HTTP: its routes, closed over its services. */
import { Cause, Context, Effect, Layer, References } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { apiRoutes } from "../api/ApiRoutes.ts"
import { logFault } from "../api/Fault.ts"
import { uploadRoutes } from "../file/UploadRoute.ts"
import { type Route, routeTable, splitUrl } from "../Route.ts"
import { countedAlong } from "../api/CountedAlong.ts"
import { noSuchEndpoint } from "../api/NoSuchEndpoint.ts"
import { intakeRoutes } from "../intake/IntakeRoutes.ts"
import { HttpSettings } from "./HttpSettings.ts"
import { countRequest } from "./RequestMetrics.ts"
import { requestSpan } from "./RequestSpan.ts"

/** Answers a request addressed to this cabinet. Always answers: a fault is logged under an id and becomes a 500. */
export class CabinetHttp extends Context.Service<
  CabinetHttp,
  {
    readonly answer: (
      request: HttpServerRequest.HttpServerRequest,
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  }
>()("@data-cabinet/http-node/cabinet/CabinetHttp") {
  static readonly layer = Layer.effect(
    CabinetHttp,
    Effect.gen(function* () {
      const settings = yield* HttpSettings
      // A face more is one more Effect of routes here; its ports become this layer's.
      const find = routeTable([...(yield* apiRoutes), ...(yield* intakeRoutes), ...(yield* uploadRoutes)])
      const counted = yield* countedAlong
      const context = yield* Effect.context()
      const prefix = new URL(settings.baseUrl).pathname.replace(/\/$/, "")
      return CabinetHttp.of({
        answer: (request) => {
          const { path, query } = splitUrl(request.url)
          // Express cuts the path it is mounted at off the address; node:http and Fastify leave it on.
          const match =
            find(path) ?? (prefix !== "" && path.startsWith(prefix) ? find(path.slice(prefix.length)) : undefined)
          if (match === undefined)
            return OF_THE_API.test(path) ? counted(request, noSuchEndpoint) : Effect.succeed(noSuchEndpoint)
          const began = performance.now()
          const handled = guarded(match.route, match.route.handle(request, { params: match.params, query }))
          return Effect.tap(requestSpan(match.route, request, handled), ({ status }) => {
            countRequest(match.route, status, began, context)
            return logRequest(request.method, match.route, status, began)
          })
        },
      })
    }),
  )
}

/** An address of the API, wherever it is mounted. */
const OF_THE_API = /\/api\/v1(\/|$)/
/** Under the route's pattern: an intake address is a secret, and filters hold values. */
const logRequest = (method: string, { path }: Route, status: number, began: number): Effect.Effect<void> =>
  Effect.flatMap(References.MinimumLogLevel, (least) =>
    least === "Debug" || least === "Trace" || least === "All"
      ? Effect.logDebug(`${method} ${path} ${status} in ${(performance.now() - began).toFixed(1)} ms`)
      : Effect.void,
  )

const guarded = (
  route: Route,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse>,
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.catchCause(answer, (cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.map(logFault(route, cause), route.fault),
  )
