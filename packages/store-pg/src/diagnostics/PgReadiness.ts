/** Whether this database is ready to serve from: it responds, and has every migration of this program. */
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect } from "effect"
import { failureWords } from "../connection/FailureWords.ts"
import { connectionLossAsError } from "../connection/StoreFailure.ts"
import { StoppedBecause } from "../embedded/LastWords.ts"
import { migrationNumbers } from "../migrations/PgMigrations.ts"

const NO_ANSWER = "the database did not respond within 5 s"

/** Null if nothing is missing; otherwise a few words for an operator. */
export const whatIsMissing: Effect.Effect<string | null, never, PgClient.PgClient> = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const all = yield* migrationNumbers
  const had = yield* sql<{ number: number }>`SELECT number FROM cabinet.migration`
  const numbers = new Set(had.map((row) => row.number))
  const lacking = all.filter((number) => !numbers.has(number))
  return lacking.length === 0 ? null : `migrations that have not been applied: ${lacking.length}`
}).pipe(
  connectionLossAsError,
  // The caller waits no longer than this; an unanswered check would keep its connection.
  Effect.timeout("5 seconds"),
  Effect.catch((error) =>
    Effect.gen(function* () {
      if (Cause.isTimeoutError(error)) return NO_ANSWER
      const why = (yield* yield* StoppedBecause) ?? failureWords(error) ?? "it cannot be reached"
      return `the database cannot be used: ${why}`
    }),
  ),
)
