/** Removes a source, and its table if requested: both or nothing. */
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { SourceRemoval } from "@data-cabinet/core/source/SourceStore"
import type { PgClient } from "@effect/sql-pg"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable, sqlState } from "../connection/StoreFailure.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"

/** Clears what a removed source no longer needs, above all its secrets. */
const FORGOTTEN = `verify = NULL, verify_secret = NULL, verify_old_secret = NULL, challenge = NULL, challenge_secret = NULL,
  proof = NULL, proof_site_key = NULL, proof_secret = NULL,
  old_secret_hash = NULL, old_secret_until = NULL`

/** How long dropping a table waits for its lock, in seconds. */
const LOCK_TIMEOUT_SECONDS = 3

/** Rolls back a refused removal. */
class NotRemoved extends Data.TaggedError("NotRemoved")<{ readonly removal: SourceRemoval }> {}

/** Turns the expected failures of dropping a table into refusals. */
const notDropped = (table: string, error: SqlError.SqlError): NotRemoved | SqlError.SqlError => {
  switch (sqlState(error)) {
    case "2BP01":
      return new NotRemoved({ removal: { is: "depended_on", table } })
    case "55P03":
      return new NotRemoved({ removal: { is: "busy", table, seconds: LOCK_TIMEOUT_SECONDS } })
    default:
      return error
  }
}

const inTransaction = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: number, table: "keep" | "drop") {
  const [before] = yield* sql.unsafe<{ readonly table_name: string | null }>(
    `SELECT table_name FROM cabinet.source WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`,
    [id],
  )
  if (before === undefined) return { is: "missing" } as const
  yield* sql.unsafe(
    `UPDATE cabinet.source SET deleted_at = cabinet.now(), ${FORGOTTEN}${table === "drop" ? ", table_name = NULL" : ""} WHERE id = $1`,
    [id],
  )
  // A table that is kept still gets its deferred rows.
  if (table === "drop") {
    yield* sql`DELETE FROM cabinet.deferred_row WHERE source_id = ${id}`
    yield* sql`DELETE FROM cabinet.row_set_aside WHERE source_id = ${id}`
  }
  // The headers of polls are secrets, so they go at once; retention removes the marks of seen items.
  yield* sql`
    UPDATE cabinet.poll SET removed_at = cabinet.now(), headers = '[]', lease = NULL
    WHERE source_id = ${id} AND removed_at IS NULL`
  if (table === "drop" && before.table_name !== null) {
    const name = before.table_name
    yield* sql.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT_SECONDS}s'`)
    yield* sql
      .unsafe(`DROP TABLE IF EXISTS ${quoteQualified(SOURCES_SCHEMA, name)}`)
      .pipe(Effect.mapError((error) => notDropped(name, error)))
  }
  return { is: "removed" } as const
})

export const removeSource = (sql: PgClient.PgClient, id: number, table: "keep" | "drop") =>
  sql.withTransaction(inTransaction(sql, id, table)).pipe(
    Effect.catchTag("NotRemoved", ({ removal }) => Effect.succeed<SourceRemoval>(removal)),
    orUnavailable,
  )
