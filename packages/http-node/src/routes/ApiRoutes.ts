/** The routes of the read API, and of agents, who read by the same keys. */
import { Effect } from "effect"
import { agentRoute } from "../agent/AgentRoute.ts"
import { acknowledgeRoutes } from "../feed/AcknowledgeEndpoint.ts"
import { feedRoutes } from "../feed/FeedEndpoint.ts"
import { feedForms } from "../feed/FeedForms.ts"
import { descriptionRoutes } from "../openapi/DescriptionEndpoints.ts"
import type { Route } from "../server/Route.ts"
import { rowRoutes } from "../row/RowsEndpoint.ts"
import { tableRoutes } from "../row/TableEndpoints.ts"
import { sourceRoutes } from "../source/SourceEndpoints.ts"
import { ENDPOINTS } from "./Endpoints.ts"

export const apiRoutes = Effect.gen(function* () {
  const forms = yield* feedForms
  const routes: ReadonlyArray<Route> = [
    ...(yield* feedRoutes(forms)),
    ...(yield* acknowledgeRoutes),
    ...(yield* rowRoutes),
    ...(yield* sourceRoutes),
    ...(yield* tableRoutes),
    ...(yield* descriptionRoutes(ENDPOINTS)),
    yield* agentRoute(forms),
  ]
  return routes
})
