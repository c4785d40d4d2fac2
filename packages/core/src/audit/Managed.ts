/**
 * Runs work that the audit log records: its intent before, its outcome after. If the intent cannot be written, the work
 * does not begin. The cabinet's own background work has no actor and is not recorded.
 */
import { Cause, Effect, Exit } from "effect"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { CurrentActor } from "./Actor.ts"
import type { AuditLog, Changes } from "./AuditLog.ts"

/** The entry that an act writes. */
export interface Act {
  readonly action: string
  readonly object: string | null
  readonly changes: Changes
  /** The kind of object that the work creates, such as `source`. With the result's id it names the entry's object. */
  readonly makes?: string
}

export const managed = <A, E, R>(
  log: AuditLog["Service"],
  act: Act,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const actor = yield* CurrentActor
    if (actor === null) return yield* work
    const { makes, ...intent } = act
    const entry = yield* log.begin({ actor, ...intent })
    return yield* Effect.onExit(work, (exit) =>
      log
        .end(entry, outcomeOf(exit), madeBy(exit, makes))
        // The work is done: if recording it fails, the entry stays open, but the work succeeds.
        .pipe(
          Effect.catchCause((cause) =>
            Effect.logWarning("the outcome of an action could not be written to the audit log", cause),
          ),
        ),
    )
  })

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "done"
  const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
  if (error instanceof StoreUnavailable) return error.outcomeUnknown ? "unknown" : "unavailable"
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code)
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "fault"
}

const madeBy = (exit: Exit.Exit<unknown, unknown>, makes: string | undefined): string | null => {
  if (makes === undefined || !Exit.isSuccess(exit)) return null
  const made = exit.value
  return typeof made === "object" && made !== null && "id" in made ? `${makes} ${String(made.id)}` : null
}
