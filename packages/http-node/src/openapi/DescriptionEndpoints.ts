/** The API's own description: `openapi.json` for programs (keyed), and a redirect to a reference for people. */
import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"
import { Effect } from "effect"
import type { Endpoint } from "../api/Endpoint.ts"
import { withRateHeaders } from "../api/WithRateHeaders.ts"
import { methodNotAllowed } from "../api/EndpointErrors.ts"
import { endpointRoute, respondBy } from "../api/EndpointRoute.ts"
import { errorResponse } from "../server/ApiError.ts"
import { faultError } from "../server/Fault.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Response } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import { describe } from "./DescribeEndpoint.ts"
import { openApiDocument } from "./OpenApiDocument.ts"
import { referenceRoute, REFERENCE_PATH } from "./ReferenceRoute.ts"
import { sourceExamples, withExamples } from "./SourceExamples.ts"

/** `endpoints`: those of the read API. */
export const descriptionRoutes = Effect.fnUntraced(function* (endpoints: ReadonlyArray<Endpoint>) {
  const { baseUrl, docsUrl } = yield* HttpSettings
  const document = madeOnce(() => openApiDocument(baseUrl, endpoints))
  const text = madeOnce(() => JSON.stringify(document()))
  const readableExamples = yield* sourceExamples
  const counted = yield* withRateHeaders
  const location = docsUrl ?? `${baseUrl}${REFERENCE_PATH}`
  const redirect: Response = {
    status: 302,
    headers: { location, "cache-control": "no-store", "content-length": "0" },
    body: null,
  }
  const docs: Route = {
    path: "/api/v1/docs",
    fault: (fault) => errorResponse(faultError(fault)),
    handle: (request) =>
      counted(request, request.method === "GET" || request.method === "HEAD" ? redirect : methodNotAllowed),
  }
  const routes: ReadonlyArray<Route> = [
    yield* endpointRoute(
      describe,
      respondBy(({ scope }) =>
        Effect.map(readableExamples(scope), (examples) =>
          examples.length === 0 ? text() : JSON.stringify(withExamples(document(), examples)),
        ),
      ),
    ),
    docs,
    ...(docsUrl === null ? [referenceRoute(document)] : []),
  ]
  return routes
})
