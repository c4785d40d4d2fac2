/**
 * A long-running process waits for its database: after a reboot or a failover it may well be up first. A permanent error,
 * such as a wrong password, fails the start at once. The log says what it waits for, and for how long.
 */
import { failureReport, isTemporary } from "@data-cabinet/store-pg/connection/FailureWords"
import { Clock, Effect } from "effect"
import { SqlError } from "effect/sql"

/** How long `serve` and `worker` wait, in milliseconds. */
export const START_TIMEOUT_MILLIS = 60_000

const RETRY_INTERVAL = "1 second"
/** The interval between two log lines, in milliseconds. */
const LOG_INTERVAL_MILLIS = 10_000

const seconds = (millis: number): string => `${Math.round(millis / 1000)} s`

/**
 * Retries until it succeeds, until the error is a permanent one, or until the time is over: then that error is the result.
 */
export const waitForDatabase = <A, E, R>(
  open: Effect.Effect<A, E | SqlError.SqlError, R>,
  where: string,
  waitMillis: number,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    let saidAt = Number.NEGATIVE_INFINITY
    const passed = Effect.map(Clock.currentTimeMillis, (now) => now - began)
    const again: Effect.Effect<A, E | SqlError.SqlError, R> = open.pipe(
      Effect.catch((error) =>
        Effect.gen(function* () {
          const time = yield* passed
          if (!SqlError.isSqlError(error) || !isTemporary(error) || time >= waitMillis) return yield* Effect.fail(error)
          if (time - saidAt >= LOG_INTERVAL_MILLIS) {
            saidAt = time
            const left = seconds(waitMillis - time)
            yield* Effect.logWarning(`waiting up to ${left} for the database at ${where}: ${failureReport(error)}`)
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
