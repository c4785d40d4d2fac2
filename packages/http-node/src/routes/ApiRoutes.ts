/** The routes of the read API, and of agents, who read by the same keys. */
import { Effect } from "effect"
import { agentRoute } from "../agent/AgentRoute.ts"
import { acknowledgeRoutes, acknowledgeEvents } from "../feed/AcknowledgeEndpoint.ts"
import { feedRoutes, listEvents } from "../feed/FeedEndpoint.ts"
import { feedForms } from "../feed/FeedForms.ts"
import { descriptionRoutes } from "../openapi/DescriptionEndpoints.ts"
import type { Route } from "../server/Route.ts"
import { rowRoutes, listRows } from "../row/RowsEndpoint.ts"
import { tableRoutes, getTable, listTables } from "../row/TableEndpoints.ts"
import { sourceRoutes, getSource, listSources } from "../source/SourceEndpoints.ts"
import { describe } from "../openapi/DescribeEndpoint.ts"
import type { Endpoint } from "../api/Endpoint.ts"

/** Every endpoint that requires a key, in the order of the reference. */
export const ENDPOINTS: ReadonlyArray<Endpoint> = [
  listEvents,
  acknowledgeEvents,
  listRows,
  listTables,
  getTable,
  listSources,
  getSource,
  describe,
]

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
