/**
 * When a database that says nothing is taken for gone. A machine that loses its power or its network says no farewell: what
 * was sent to it is never answered, and the system would wait a quarter of an hour before it calls the connection lost,
 * long after another machine has taken over under the same name.
 */
import { Cause, Clock, Context, Duration, Effect } from "effect"
import { SqlError } from "effect/sql"

/** Longer than the database's own limit for a statement, after which it would have said so. */
export const Silence = Context.Reference<Duration.Input>("@data-cabinet/store-pg/connection/Silence", {
  defaultValue: () => "40 seconds",
})

const lost = () =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error("The database fell silent."),
      message: "The database fell silent.",
      operation: "execute",
    }),
  })

/** Fails as a lost connection does once the database has owed an answer for too long; a timer a statement would cost more. */
export const lostWhenSilent = (busySince: () => number | null): Effect.Effect<never, SqlError.SqlError> =>
  Effect.gen(function* () {
    const millis = Duration.toMillis(yield* Silence)
    for (;;) {
      yield* Effect.sleep(millis / 4)
      const since = busySince()
      if (since !== null && (yield* Clock.currentTimeMillis) - since > millis) return yield* lost()
    }
  })

/** Nothing that opens a session takes longer; one that stood idle while its server went is found out here. */
const OPENING = "8 seconds"

/** Fails as a lost connection does when a session just taken does not answer. The driver gives up what is broken off. */
export const orLost = <A, E, R>(opening: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchIf(Effect.timeout(opening, OPENING), Cause.isTimeoutError, () => Effect.fail(lost()))
