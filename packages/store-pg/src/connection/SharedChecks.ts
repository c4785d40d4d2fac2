/**
 * The checks of sessions that several callers share. The check that refuses a session also ends it, and the others may
 * notice that first: they wait for the refusal, and fail with it instead of a lost connection.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Latch } from "effect"
import type { SqlError } from "effect/sql"
import { isUnfit } from "./ReplacedSession.ts"

interface Checks {
  running: number
  /** Open while none is running. */
  readonly ended: Latch.Latch
  refusal: SqlError.SqlError | undefined
}

export class SharedChecks {
  readonly #of = new WeakMap<PgConnection.PgConnection, Checks>()

  run<A, R>(
    session: PgConnection.PgConnection,
    check: Effect.Effect<A, SqlError.SqlError, R>,
  ): Effect.Effect<A, SqlError.SqlError, R> {
    return Effect.suspend(() => {
      const checks = this.#checksOf(session)
      checks.running++
      checks.ended.closeUnsafe()
      return check.pipe(
        Effect.tapError((error) => Effect.sync(() => void (isUnfit(error) && (checks.refusal ??= error)))),
        Effect.ensuring(Effect.sync(() => void (--checks.running === 0 && checks.ended.openUnsafe()))),
        Effect.catch((error) =>
          Effect.andThen(
            checks.refusal === undefined ? checks.ended.await : Effect.void,
            Effect.suspend(() => Effect.fail(checks.refusal ?? error)),
          ),
        ),
      )
    })
  }

  #checksOf(session: PgConnection.PgConnection): Checks {
    const known = this.#of.get(session)
    if (known !== undefined) return known
    const checks: Checks = { running: 0, ended: Latch.makeUnsafe(true), refusal: undefined }
    this.#of.set(session, checks)
    return checks
  }
}
