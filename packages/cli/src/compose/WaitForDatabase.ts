/**
 * A long-running process waits for its database: after a reboot or a failover, the process may start first. A permanent
 * error, such as a wrong password, fails the start at once. The log says what it waits for, and for how long.
 */
import { failureReport, isTemporary } from "@data-cabinet/store-pg/connection/FailureWords"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Effect, Exit, Layer, Schema, Scope } from "effect"
import { SqlError } from "effect/sql"
import { StartError } from "../error/StartError.ts"

/** How long `serve` and `worker` wait, in milliseconds. */
export const START_TIMEOUT_MILLIS = 60_000

const RETRY_INTERVAL = "1 second"
/** The interval between two log lines, in milliseconds. */
const LOG_INTERVAL_MILLIS = 10_000

const seconds = (millis: number): string => `${Math.round(millis / 1000)} s`

const isUnavailable = Schema.is(StoreUnavailable)

const passes = (error: unknown): boolean => (SqlError.isSqlError(error) ? isTemporary(error) : isUnavailable(error))

const reportOf = (error: unknown): string =>
  SqlError.isSqlError(error) ? failureReport(error) : isUnavailable(error) ? withoutStop(error.message) : String(error)

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, "")

/**
 * Retries until it succeeds, until the error is a permanent one, or until the time is over: then that error is the result.
 * The time counts from `began`, by the clock in milliseconds; by default from the call.
 */
export const waitForDatabase = <A, E, R>(
  open: Effect.Effect<A, E, R>,
  where: string,
  waitMillis: number,
  began?: number,
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const calledAt = yield* Clock.currentTimeMillis
    const since = began ?? calledAt
    let saidAt = Number.NEGATIVE_INFINITY
    const passed = Effect.map(Clock.currentTimeMillis, (now) => now - since)
    const again: Effect.Effect<A, E, R> = open.pipe(
      Effect.catch((error) =>
        Effect.gen(function* () {
          const time = yield* passed
          if (!passes(error) || time >= waitMillis) return yield* Effect.fail(error)
          if (time - saidAt >= LOG_INTERVAL_MILLIS) {
            saidAt = time
            const left = seconds(waitMillis - time)
            yield* Effect.logWarning(`waiting up to ${left} for the database at ${where}: ${reportOf(error)}`)
          }
          yield* Effect.sleep(RETRY_INTERVAL)
          return yield* again
        }),
      ),
    )
    const opened = yield* again
    if (saidAt !== Number.NEGATIVE_INFINITY) {
      yield* Effect.logInfo(`the database at ${where} is available after ${seconds(yield* passed)}`)
    }
    return opened
  })

/** One step of a start; all steps wait for the database within the same time limit. */
export type StartStep = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, StartError, R>

/** Starts the clock for all steps of a start with this database. A failure that outlasts it becomes a sentence. */
export const startSteps = (where: string): Effect.Effect<StartStep> =>
  Effect.map(
    Clock.currentTimeMillis,
    (began): StartStep =>
      (step) =>
        Effect.mapError(waitForDatabase(step, where, START_TIMEOUT_MILLIS, began), (error) => inWords(error, where)),
  )

const inWords = (error: unknown, where: string): StartError => {
  if (error instanceof StartError) return error
  const message = `The database at ${where} cannot be used: ${reportOf(error)}.`
  return new StartError({ code: passes(error) ? "database_unreachable" : "database_unfit", message })
}

/** Builds a layer for as long as the scope is open; a failed attempt leaves no trace. */
export const buildAfresh = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  Effect.gen(function* () {
    const own = yield* Scope.fork(yield* Effect.scope)
    return yield* Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), own).pipe(
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
    )
  })
