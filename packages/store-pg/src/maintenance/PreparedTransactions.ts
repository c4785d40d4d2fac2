/**
 * Finds transactions that were prepared and never ended. They hold their locks, and dead rows, past the end of their
 * session and past a restart, so no time limit of a session bounds them. They are reported and not ended: only their
 * program knows whether they are to be committed.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectionLossAsError } from "../connection/StoreFailure.ts"

/** After this time a prepared transaction counts as forgotten: a program that ends its transactions does so at once. */
export const FORGOTTEN_SECONDS = 60

/** The transactions of this database that were prepared more than $1 seconds ago, the oldest first. */
export const PREPARED = `
SELECT gid AS name, owner::text AS login, cabinet.rfc3339(prepared) AS since FROM pg_prepared_xacts
WHERE database = current_database() AND prepared < clock_timestamp() - $1::float8 * interval '1 second' ORDER BY prepared LIMIT 20`

/** A transaction that was prepared; `since` in RFC 3339. */
export interface PreparedTransaction {
  readonly name: string
  readonly login: string
  readonly since: string
}

const keyOf = ({ name, since }: PreparedTransaction): string => `${since} ${name}`

/** Returns the periodic check. It logs each transaction once. */
export const preparedTransactions = (forgottenSeconds = FORGOTTEN_SECONDS) => {
  let logged = new Set<string>()
  const work = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const found = yield* sql.unsafe<PreparedTransaction>(PREPARED, [forgottenSeconds])
    const before = logged
    logged = new Set(found.map(keyOf))
    for (const one of found) {
      if (before.has(keyOf(one))) continue
      yield* Effect.logWarning(
        `The transaction ${JSON.stringify(one.name)} of ${one.login} was prepared at ${one.since} and not ended. It keeps its locks, and VACUUM from removing dead rows, also over a restart: see cabinet doctor`,
      )
    }
  })
  return connectionLossAsError(work)
}
