/** Handling of a defect: it is logged whole under a new id, and the client gets only the id. */
import { randomUUID } from "node:crypto"
import { Cause, type Context, Effect } from "effect"
import type { Route } from "../server/Route.ts"
import type { ApiError } from "./ApiError.ts"

/** Logs it under the route's pattern, never its address (an intake address is a secret), and returns the id. */
export const logFault = (route: Pick<Route, "path">, fault: unknown, context: Context.Context<never>): string => {
  const correlationId = randomUUID()
  const line = Effect.logError("a request failed", Cause.isCause(fault) ? fault : Cause.die(fault))
  Effect.runForkWith(context)(Effect.annotateLogs(line, { correlationId, route: route.path }))
  return correlationId
}

/** The API error for a defect. */
export const faultError = (correlationId: string): ApiError => ({
  code: "internal_error",
  message: `An unexpected error, logged as ${correlationId}.`,
})
