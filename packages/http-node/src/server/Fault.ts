/**
 * Handles a defect: it is logged whole under a new id. The client gets the id, and advice if the surrounding program
 * is at fault.
 */
import { randomUUID } from "node:crypto"
import { Cause, type Context, Effect } from "effect"
import type { Route } from "./Route.ts"
import type { ApiError } from "./ApiError.ts"

/** A mistake in the surrounding program. Its message holds no data, so the client sees it. */
export class ProgramMistake extends Error {}

/** The part of a fault that a client may see. */
export interface LoggedFault {
  /** The id under which the log has it. */
  readonly id: string
  /** What to change in the surrounding program; null for any other fault. */
  readonly advice: string | null
}

/** Logs it under the route's pattern, never its address (an intake address is a secret). */
export const logFault = (route: Pick<Route, "path">, fault: unknown, context: Context.Context<never>): LoggedFault => {
  const correlationId = randomUUID()
  const line = Effect.logError("a request failed", Cause.isCause(fault) ? fault : Cause.die(fault))
  Effect.runForkWith(context)(Effect.annotateLogs(line, { correlationId, route: route.path }))
  const thrown = Cause.isCause(fault) ? Cause.squash(fault) : fault
  return { id: correlationId, advice: thrown instanceof ProgramMistake ? thrown.message : null }
}

/** The sentence for a client. */
export const faultInWords = ({ id, advice }: LoggedFault): string =>
  advice === null ? `An unexpected error, logged as ${id}.` : `${advice} (logged as ${id}).`

/** The API error for a defect. */
export const faultError = (fault: LoggedFault): ApiError => ({ code: "internal_error", message: faultInWords(fault) })
