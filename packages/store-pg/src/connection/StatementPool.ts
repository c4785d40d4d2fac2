/**
 * A pool that is watched for missing responses. The driver cannot abort a statement on a session that others use, so a
 * session whose server is gone would be given statement after statement without a response. If responses are
 * outstanding and none has arrived for a while, the sessions are checked from outside (see ResponseTimeout).
 */
import { Clock, Effect, Exit, Latch } from "effect"
import type { PgClient } from "@effect/sql-pg"
import type { SqlError } from "effect/sql"
import { SUSPECT_MILLIS } from "./ResponseTimeout.ts"

/** Runs single statements. */
export interface Statements {
  /** Returns rows as objects. */
  readonly unsafe: <A extends object>(
    text: string,
    values?: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** Returns rows as arrays. */
  readonly values: (
    text: string,
    values: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>
}

/** The pause between two checks, while any response is owed. */
const CHECK_INTERVAL = "500 millis"

/** Statements owed a response while they run. */
export type Watched = <A, E>(statement: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Runs each time no response has arrived for too long, and is awaited; it gets the time since when. */
type Suspected = (owedSince: () => number | null) => Effect.Effect<unknown>

/** Watches a pool as long as the scope is open. `ping` runs any statement in it. */
export const watchResponses = Effect.fnUntraced(function* (
  ping: Effect.Effect<unknown, SqlError.SqlError>,
  suspected: Suspected,
) {
  let owed = 0
  /** Statements whose callers have stopped waiting; their responses are never seen. */
  let abandoned = 0
  let responses = 0
  const awaited = Latch.makeUnsafe(false)

  const ended = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    owed--
    if (Exit.isFailure(exit) && Exit.hasInterrupts(exit)) abandoned++
    else {
      responses++
      abandoned = 0
    }
    return Effect.void
  }
  const counted: Watched = (statement) =>
    Effect.suspend(() => {
      if (++owed === 1) awaited.openUnsafe()
      return Effect.onExit(statement, ended)
    })

  yield* Effect.gen(function* () {
    yield* awaited.await
    let seen = responses
    let since = yield* Clock.currentTimeMillis
    while (owed > 0 || abandoned > 0) {
      yield* Effect.sleep(CHECK_INTERVAL)
      if (responses !== seen) {
        seen = responses
        since = yield* Clock.currentTimeMillis
        continue
      }
      // Only a response shows whether the abandoned statements are still owed one.
      if (owed === 0 && abandoned > 0) yield* Effect.forkChild(Effect.ignore(counted(ping)))
      if ((yield* Clock.currentTimeMillis) - since < SUSPECT_MILLIS) continue
      const before = seen
      yield* suspected(() => (responses === before && owed > 0 ? since : null))
    }
    awaited.closeUnsafe()
  }).pipe(Effect.forever, Effect.forkScoped)

  return counted
})

/** A shared pool, watched. */
export const statementPool = Effect.fnUntraced(function* (client: PgClient.PgClient, suspected: Suspected) {
  const counted = yield* watchResponses(client.unsafe("SELECT 1"), suspected)
  const statements: Statements = {
    unsafe: <A extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
      counted(client.unsafe<A>(text, values)),
    values: (text, values) => counted(client.unsafe(text, values).values),
  }
  return statements
})
