/** What is done about a defect: it is logged whole under a fresh id, and the client gets the id alone. */
import { randomUUID } from "node:crypto"
import { type Cause, Effect } from "effect"
import type { Route } from "../server/Route.ts"
import type { ApiError } from "./ApiError.ts"

/** Logs the cause under the route's pattern, never its address (an intake address is a secret), and gives the id. */
export const logFault = (route: Pick<Route, "path">, cause: Cause.Cause<unknown>): Effect.Effect<string> =>
  Effect.suspend(() => {
    const correlationId = randomUUID()
    return Effect.as(
      Effect.annotateLogs(Effect.logError("a request failed", cause), { correlationId, route: route.path }),
      correlationId,
    )
  })

/** The API's words for it. */
export const faultError = (correlationId: string): ApiError => ({
  code: "internal_error",
  message: `An unexpected fault of the service, logged as ${correlationId}.`,
})
