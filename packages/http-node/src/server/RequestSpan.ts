/**
 * The span of a request, where traces are wanted, as the continuation of its sender's if it names one. It knows the
 * route's pattern and never the address: that holds secrets (intake) and values (filters); and no header.
 */
import { Effect, Option, References } from "effect"
import { type HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "effect/http"
import type { Route } from "./Route.ts"
import { RequestId } from "./RequestId.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

const spanned = (route: Pick<Route, "path">, request: HttpServerRequest.HttpServerRequest, answer: Answer): Answer =>
  Effect.flatMap(RequestId, (id) =>
    Effect.useSpan(
      `${request.method} ${route.path}`,
      {
        kind: "server",
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(request.headers)),
        attributes: { "http.request.method": request.method, "http.route": route.path, "request.id": id },
      },
      (span) =>
        Effect.map(Effect.withParentSpan(answer, span), (response) => {
          span.attribute("http.response.status_code", response.status)
          return response
        }),
    ),
  )

export const requestSpan = (
  route: Pick<Route, "path">,
  request: HttpServerRequest.HttpServerRequest,
  answer: Answer,
): Answer =>
  Effect.withFiber((fiber) => (fiber.getRef(References.TracerEnabled) ? spanned(route, request, answer) : answer))
