/**
 * Replaces a session that its check refuses before any work. A pool may hold unchecked sessions that it opened for
 * callers who have left. They may still have a database setting that was reset meanwhile, so their refusal proves
 * nothing; only that of a session opened afterwards does.
 */
import { Effect, Exit, Scope } from "effect"
import { SqlError } from "effect/sql"
import { SessionUnfit } from "./SessionCheck.ts"

/** Whether the check of a session refused it. */
export const isUnfit = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason.cause instanceof SessionUnfit

/**
 * Repeats what failed because of an unfit session, until a session was opened after the first refusal. `opened` counts the
 * connections that the pool has opened so far; `hasBegun` is true once there was work, which is never repeated.
 */
export const replacingUnfit =
  (opened: () => number, hasBegun: () => boolean = () => false) =>
  <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      let openedAtRefusal: number | undefined
      const isRepeated = (error: E): boolean => {
        if (hasBegun() || !isUnfit(error)) return false
        const isFirst = openedAtRefusal === undefined
        openedAtRefusal ??= opened()
        // Each refused session is closed, so the older ones come to an end.
        return isFirst || opened() === openedAtRefusal
      }
      const one: Effect.Effect<A, E, R> = attempt.pipe(
        Effect.catch((error) => (isRepeated(error) ? one : Effect.fail(error))),
      )
      return one
    })

/** Gives a resource back at once if what follows its acquisition fails, and not with the caller's scope. */
export const releasedOnFailure = <A, E, R>(
  acquire: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const own = yield* Scope.fork(yield* Effect.scope)
    return yield* Scope.provide(acquire, own).pipe(Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))))
  })
