/**
 * A pool opens a session before anybody needs it: for a caller who then leaves, or in place of one that was closed. If
 * that attempt times out, the pool reports it to the caller who is waiting by then, perhaps for a millisecond. Such a
 * failure says nothing about the database now, least of all when this process itself had no time to read its response.
 */
import { monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { Effect } from "effect"
import { SqlError } from "effect/sql"

const isTimedOut = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  error.reason.operation === "connect" &&
  error.reason.cause instanceof Error &&
  error.reason.cause.message === "Connection timed out"

/**
 * Tries once more if the attempt timed out sooner than `millis` after the caller came, which is how long an attempt may
 * take. `hasBegun` is true once there was work, which is never repeated.
 */
export const notInherited =
  (millis: number, hasBegun: () => boolean = () => false) =>
  <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) => {
      const came = monotonicMillis(clock)
      const isInherited = (error: E): boolean =>
        isTimedOut(error) && !hasBegun() && monotonicMillis(clock) - came < millis
      return attempt.pipe(Effect.catch((error) => (isInherited(error) ? attempt : Effect.fail(error))))
    })
