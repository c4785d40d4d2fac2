/**
 * Finds transactions that were prepared but never ended. They keep their locks, and dead rows, beyond the end of their
 * session and even a restart, so no time limit of a session ends them. They are only reported, because only their
 * program knows whether to commit them.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectionLossAsError } from "../connection/StoreFailure.ts"

/** A prepared transaction older than this counts as forgotten: programs end their transactions at once. */
export const FORGOTTEN_SECONDS = 60

/** Transactions of this database that were prepared more than $1 seconds ago, oldest first. */
export const PREPARED = `
SELECT gid AS name, owner::text AS login, cabinet.rfc3339(prepared) AS since FROM pg_prepared_xacts
WHERE database = current_database() AND prepared < clock_timestamp() - $1::float8 * interval '1 second' ORDER BY prepared LIMIT 20`

/** A prepared transaction; `since` in RFC 3339. */
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
