/** Everything of one cabinet that is reached over HTTP: its routes, closed over its services. */
import { thenAtOnce } from "@data-cabinet/core/runtime/Course"
import { Cause, Context, Effect, Layer, type LogLevel, References } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { apiRoutes } from "../api/ApiRoutes.ts"
import { logFault } from "../api/Fault.ts"
import { uploadRoutes } from "../file/UploadRoute.ts"
import { type Address, type Match, type Received, type Route, routeTable } from "./Route.ts"
import { withRateHeaders } from "../api/WithRateHeaders.ts"
import { noSuchEndpoint } from "../api/NoSuchEndpoint.ts"
import { intakeRoutes } from "../intake/IntakeRoutes.ts"
import { HttpSettings } from "./HttpSettings.ts"
import { countRequest } from "./RequestMetrics.ts"
import { requestSpan } from "./RequestSpan.ts"

/** `answer` gets an exit where all went well. */
export type Take = (
  request: Received,
  answer: (response: Effect.Effect<HttpServerResponse.HttpServerResponse>) => void,
  context: Context.Context<never>,
) => void

/** Answers a request addressed to this cabinet. Always answers: a fault is logged under an id and becomes a 500. */
export class CabinetHttp extends Context.Service<
  CabinetHttp,
  {
    /** The path of its base address, without a slash at its end; empty for a cabinet at the root. */
    readonly mountedAt: string
    readonly answer: (
      request: HttpServerRequest.HttpServerRequest,
      address: Address,
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
    /** How a POST to this address is answered in plain calls; undefined where it is not, and where none is. */
    readonly taking?: (address: Address) => Take | undefined
  }
>()("@data-cabinet/http-node/server/CabinetHttp") {
  static readonly layer = Layer.effect(
    CabinetHttp,
    Effect.gen(function* () {
      const settings = yield* HttpSettings
      const mountedAt = new URL(settings.baseUrl).pathname.replace(/\/$/, "")
      // A face more is one more Effect of routes here; its ports become this layer's.
      const find = routeTable([...(yield* apiRoutes), ...(yield* intakeRoutes), ...(yield* uploadRoutes)], mountedAt)
      const counted = yield* withRateHeaders
      const context = yield* Effect.context()
      return CabinetHttp.of({
        mountedAt,
        answer: (request, address) => {
          const match = find(address)
          if (match === undefined)
            return OF_THE_API.test(address.path) ? counted(request, noSuchEndpoint) : Effect.succeed(noSuchEndpoint)
          const began = performance.now()
          const handled = guarded(
            match.route,
            match.route.handle(request, { params: match.params, query: address.query }),
          )
          return Effect.tap(requestSpan(match.route, request, handled), ({ status }) => {
            countRequest(match.route, status, began, context)
            return logRequest(request.method, match.route, status, began)
          })
        },
        taking: takingOf(find, context),
      })
    }),
  )
}

/** What of these routes goes in plain calls, counted as all requests are. */
export const takingOf =
  (find: (address: Address) => Match | undefined, context: Context.Context<never>) =>
  (address: Address): Take | undefined => {
    const match = find(address)
    const take = match?.route.take
    if (match === undefined || take === undefined) return undefined
    const target = { params: match.params, query: address.query }
    return (request, answer, named) => {
      const began = performance.now()
      const counted = (response: HttpServerResponse.HttpServerResponse) => {
        countRequest(match.route, response.status, began, context)
        return Effect.succeed(response)
      }
      take(request, target, (response) => answer(thenAtOnce(response, counted)), named)
    }
  }

/** An address of the API, wherever it is mounted. */
const OF_THE_API = /\/api\/v1(\/|$)/

/** Whether a line is logged of each request. */
export const logsRequests = (least: LogLevel.LogLevel): boolean =>
  least === "Debug" || least === "Trace" || least === "All"

/** Under the route's pattern: an intake address is a secret, and filters hold values. */
const logRequest = (method: string, { path }: Route, status: number, began: number): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    logsRequests(fiber.getRef(References.MinimumLogLevel))
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
