/**
 * A shared pool that is opened anew when its sessions have fallen silent. The driver cannot break off a statement on a
 * session that others use, so a session whose server is gone would be given statement after statement, all without an
 * answer (see Silence). Here whoever gave up waiting makes the pool suspect; when a session opened anew answers, the old
 * ones are let go.
 */
import { Clock, Effect, Exit, Latch, Option, Scope } from "effect"
import type { PgClient } from "@effect/sql-pg"
import type { SqlError } from "effect/sql"

/** A statement given up sooner than this says nothing of its session: its client may have hung up. */
const SUSPECT_MILLIS = 5_000
/** How long a new session may take to answer. */
const PROBE = "5 seconds"
/** What is under way on the old sessions, if they are slow and not gone, has this long to end. */
const LET_GO = "30 seconds"
/** Between one renewal, or one try, and the next. */
const PAUSE = "5 seconds"

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

/** Lives as long as the scope. */
export const renewedPool = Effect.fnUntraced(function* (
  open: Effect.Effect<PgClient.PgClient, SqlError.SqlError, Scope.Scope>,
) {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const openOne = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const client = yield* Effect.provideService(open, Scope.Scope, own)
    return { client, close: Scope.close(own, Exit.void) }
  })
  let current = yield* openOne
  const suspect = Latch.makeUnsafe(false)

  yield* Effect.gen(function* () {
    yield* suspect.await
    const next = yield* openOne
    const answer = yield* Effect.option(Effect.timeout(next.client.unsafe("SELECT 1"), PROBE))
    suspect.closeUnsafe()
    const old = Option.isSome(answer) ? current : next
    if (old === current) {
      current = next
      yield* Effect.logWarning("connections to the database fell silent and were opened anew")
    }
    yield* Effect.forkDetach(Effect.delay(old.close, old === next ? 0 : LET_GO))
    yield* Effect.sleep(PAUSE)
  }).pipe(
    Effect.catch(() => Effect.sleep(PAUSE)),
    Effect.forever,
    Effect.forkScoped,
  )

  const watched = <A>(statement: (client: PgClient.PgClient) => Effect.Effect<A, SqlError.SqlError>) =>
    Effect.suspend(() => {
      const began = clock.currentTimeMillisUnsafe()
      const used = current
      return Effect.onInterrupt(statement(used.client), () =>
        Effect.sync(() => {
          if (used === current && clock.currentTimeMillisUnsafe() - began >= SUSPECT_MILLIS) suspect.openUnsafe()
        }),
      )
    })
  const statements: Statements = {
    unsafe: <A extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
      watched((client) => client.unsafe<A>(text, values)),
    values: (text, values) => watched((client) => client.unsafe(text, values).values),
  }
  return statements
})
