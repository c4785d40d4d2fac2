/** Whether this database can be served from: it answers, and has had every migration that this program brings. */
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect } from "effect"
import { failureWords } from "../connection/FailureWords.ts"
import { connectionLossAsError } from "../connection/StoreFailure.ts"
import { migrationNumbers } from "../migrations/PgMigrations.ts"

const NO_ANSWER = "the database did not answer within 5 s"

/** Null when nothing is missing; otherwise a few words for an operator. */
export const whatIsMissing: Effect.Effect<string | null, never, PgClient.PgClient> = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const all = yield* migrationNumbers
  const had = yield* sql<{ number: number }>`SELECT number FROM cabinet.migration`
  const numbers = new Set(had.map((row) => row.number))
  const lacking = all.filter((number) => !numbers.has(number))
  return lacking.length === 0 ? null : `migrations that have not been applied: ${lacking.length}`
}).pipe(
  connectionLossAsError,
  // Whoever asks waits no longer; what is left of a check that is not answered would hold its connection.
  Effect.timeout("5 seconds"),
  Effect.catch((error) =>
    Effect.succeed(
      Cause.isTimeoutError(error)
        ? NO_ANSWER
        : `the database cannot be used: ${failureWords(error) ?? "it cannot be reached"}`,
    ),
  ),
)
