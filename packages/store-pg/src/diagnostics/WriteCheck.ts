/**
 * Whether anything can be written: for `cabinet doctor`, and after events could not be. A server that is not ready
 * receives no events, so it has to find out by itself: a temporary table is created, filled with a megabyte, and
 * dropped with the transaction. That takes new space on the disk every time, some of the log and of the lock table, and
 * touches nothing of the cabinet's.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { failureWords } from "../connection/FailureWords.ts"
import { connectionLossAsError, sqlState } from "../connection/StoreFailure.ts"
import { WriteSessions } from "../connection/WriteSession.ts"

const WRITE_A_MEGABYTE = [
  "SET LOCAL temp_tablespaces = ''",
  "CREATE TEMPORARY TABLE cabinet_room (content text) ON COMMIT DROP",
  "INSERT INTO pg_temp.cabinet_room SELECT repeat(md5(n::text), 60) FROM generate_series(1, 512) n",
]

/** A role that may not create such a table cannot check: then the next event shows it. */
const MAY_NOT = "42501"

/** Null if writing has just succeeded; otherwise the reason, in words that end the sentence "…: ". */
const failureOf = <R>(write: Effect.Effect<unknown, SqlError.SqlError, R>, otherwise: string) =>
  write.pipe(
    Effect.as(null),
    connectionLossAsError,
    Effect.timeout("4 seconds"),
    Effect.catchTag("TimeoutError", () => Effect.succeed(otherwise)),
    Effect.catchTag("SqlError", (error) =>
      Effect.succeed(failureWords(error) ?? (sqlState(error) === MAY_NOT ? null : otherwise)),
    ),
  )

/** For a process that writes no events itself. */
export const writeFailure = (otherwise: string): Effect.Effect<string | null, never, PgClient.PgClient> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const write = Effect.forEach(WRITE_A_MEGABYTE, (statement) => sql.unsafe(statement).unprepared, { discard: true })
    return yield* failureOf(sql.withTransaction(write), otherwise)
  })

/**
 * Null while events can be written, as far as is known; otherwise the reason, in words for an operator. Sends no query
 * while all is well. It writes on a session like those of the writers, because a server may refuse these alone.
 */
export const cannotWrite: Effect.Effect<string | null, never, WriteSessions> = Effect.gen(function* () {
  const { trouble, open } = yield* WriteSessions
  if (trouble.words === null) return null
  const write = open(
    (session) =>
      Effect.forEach(["BEGIN", ...WRITE_A_MEGABYTE, "COMMIT"], (text) =>
        session.executeUnprepared(text, [], undefined),
      ),
    () => {},
  )
  const why = yield* failureOf(Effect.scoped(write), trouble.words)
  trouble.words = why
  return why === null ? null : `events cannot be written: ${why}`
})
