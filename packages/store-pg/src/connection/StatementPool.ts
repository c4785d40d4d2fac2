/**
 * A shared pool that is watched for silence. The driver cannot break off a statement on a session that others use, so a
 * session whose server is gone would be given statement after statement, all without an answer. Once nothing has been
 * answered for a while although something is owed, the sessions are looked at from outside (see Silence).
 */
import { Clock, Effect, Exit, Latch } from "effect"
import type { PgClient } from "@effect/sql-pg"
import type { SqlError } from "effect/sql"
import { SUSPECT_MILLIS } from "./ResponseTimeout.ts"

/** Runs statements one by one. */
export interface Statements {
  /** Rows come as objects. */
  readonly unsafe: <A extends object>(
    text: string,
    values?: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** Rows come as arrays. */
  readonly values: (
    text: string,
    values: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>
}

/** Between two looks, while anything is owed. */
const CHECK_INTERVAL = "500 millis"

/** `suspected` is run, and waited for, each time the silence has lasted too long; it is given since when. Watches as long as the scope is open. */
export const statementPool = Effect.fnUntraced(function* (
  client: PgClient.PgClient,
  suspected: (owedSince: () => number | null) => Effect.Effect<unknown>,
) {
  let owed = 0
  /** Statements that nobody waits for any more; their answers are never seen. */
  let abandoned = 0
  let answered = 0
  const asked = Latch.makeUnsafe(false)

  const ended = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    owed--
    if (Exit.isFailure(exit) && Exit.hasInterrupts(exit)) abandoned++
    else {
      answered++
      abandoned = 0
    }
    return Effect.void
  }
  const counted = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      if (++owed === 1) asked.openUnsafe()
      return Effect.onExit(statement, ended)
    })

  yield* Effect.gen(function* () {
    yield* asked.await
    let seen = answered
    let since = yield* Clock.currentTimeMillis
    while (owed > 0 || abandoned > 0) {
      yield* Effect.sleep(CHECK_INTERVAL)
      if (answered !== seen) {
        seen = answered
        since = yield* Clock.currentTimeMillis
        continue
      }
      // Only an answer tells whether those that were given up are still owed one.
      if (owed === 0 && abandoned > 0) yield* Effect.forkChild(Effect.ignore(counted(client.unsafe("SELECT 1"))))
      if ((yield* Clock.currentTimeMillis) - since < SUSPECT_MILLIS) continue
      const before = seen
      yield* suspected(() => (answered === before && owed > 0 ? since : null))
    }
    asked.closeUnsafe()
  }).pipe(Effect.forever, Effect.forkScoped)

  const statements: Statements = {
    unsafe: <A extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
      counted(client.unsafe<A>(text, values)),
    values: (text, values) => counted(client.unsafe(text, values).values),
  }
  return statements
})
