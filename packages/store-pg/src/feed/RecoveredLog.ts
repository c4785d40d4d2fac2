/**
 * After a crash PostgreSQL shows every commit that it finds in its log, whether or not a synchronous standby has it.
 * One that no standby has is lost if another server takes over, so clients of the feed must not have seen it.
 *
 * So before a process shows its first page since the server's start, it commits something. That commit waits for a
 * standby like any other, and the log is replicated in order: once it completes, the standby has everything recovered.
 * Later commits in that life become visible only once a standby has them.
 *
 * Decision: docs/decisions/0056-the-feed-waits-for-what-was-recovered.md
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Fiber } from "effect"
import type { SqlError } from "effect/sql"
import type { Session } from "../connection/ReaderSessions.ts"
import { unavailable } from "../connection/StoreFailure.ts"

/** A life ends with its process, or when that recovers from the crash of a session, which resets all statistics. */
const LIFE = "SELECT concat_ws(' ', pg_postmaster_start_time(), stats_reset) AS life FROM pg_stat_archiver"

/** Writes to the log, and to nothing else. */
const COMMIT = `${LIFE}, LATERAL (SELECT pg_logical_emit_message(true, 'data-cabinet', '') OFFSET 0) written`

type Replicated = Effect.Effect<void, SqlError.SqlError | StoreUnavailable>

/** For a session: waits until everything that its server has recovered is replicated. */
export const recoveredLog = Effect.fnUntraced(function* (writing: PgClient.PgClient) {
  const scope = yield* Effect.scope
  let replicated: unknown
  const known = new WeakSet<Session>()
  /** One at a time, however many callers wait for it or stop waiting. */
  let committing: Fiber.Fiber<string, SqlError.SqlError> | undefined
  const commit = writing.unsafe<{ readonly life: string }>(COMMIT).pipe(
    Effect.map(([row]) => row!.life),
    Effect.onExit(() => Effect.sync(() => (committing = undefined))),
    Effect.forkIn(scope),
  )
  const replicate = Effect.fnUntraced(function* (session: Session) {
    const [[life] = []] = yield* session.queryValues(LIFE, [])
    if (life !== replicated) {
      committing ??= yield* commit
      if ((yield* Fiber.join(committing)) !== life)
        return yield* unavailable("The database has just failed over to another server.")
      replicated = life
    }
    known.add(session)
  })
  return (session: Session): Replicated => (known.has(session) ? Effect.void : replicate(session))
})
