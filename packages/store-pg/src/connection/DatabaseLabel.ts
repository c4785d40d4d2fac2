/** The label by which metrics of one database differ from those of another. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

export const databaseLabel = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
  return { database: here!.database }
})
