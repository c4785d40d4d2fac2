/** The routes of the read API. */
import { Effect } from "effect"
import { feedRoutes } from "../feed/FeedEndpoint.ts"
import { descriptionRoutes } from "../openapi/DescriptionEndpoints.ts"
import type { Route } from "../server/Route.ts"
import { rowRoutes } from "../row/RowsEndpoint.ts"
import { tableRoutes } from "../row/TableEndpoints.ts"
import { sourceRoutes } from "../source/SourceEndpoints.ts"

export const apiRoutes = Effect.gen(function* () {
  const routes: ReadonlyArray<Route> = [
    ...(yield* feedRoutes),
    ...(yield* rowRoutes),
    ...(yield* sourceRoutes),
    ...(yield* tableRoutes),
    ...(yield* descriptionRoutes),
  ]
  return routes
})
