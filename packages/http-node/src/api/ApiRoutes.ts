/** The routes of the read API. */
import { Effect } from "effect"
import type { Route } from "../Route.ts"

export const apiRoutes = Effect.gen(function* () {
  const routes: ReadonlyArray<Route> = []
  return yield* Effect.succeed(routes)
})
