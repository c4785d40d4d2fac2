/**
 * The URL under which others reach a cabinet, kept in its database by the server that knows it, so that every process
 * that joins the database prints intake addresses that work.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as OwnerClient from "../connection/OwnerClient.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"

const READ = "SELECT url FROM cabinet.base_address"
const WRITE = `
  INSERT INTO cabinet.base_address (url) VALUES ($1)
  ON CONFLICT (singleton) DO UPDATE SET url = excluded.url, noted_at = excluded.noted_at`

const FORGET = "DELETE FROM cabinet.base_address WHERE url = $1"

/** Null if no server has recorded one. */
export const recordedBaseUrl = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql.unsafe<{ readonly url: string }>(READ)
  return row?.url ?? null
})

/** Writes only what differs: most starts change nothing. */
export const recordBaseUrl = Effect.fnUntraced(function* (baseUrl: string) {
  if ((yield* recordedBaseUrl) === baseUrl) return
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(WRITE, [baseUrl])
})

const ofItsOwn = <A, E, R>(databaseUrl: string, work: Effect.Effect<A, E, R>) =>
  work.pipe(
    Effect.provide(OwnerClient.layer({ url: databaseUrl, maxConnections: 2, applicationName: "data-cabinet start" }), {
      local: true,
    }),
    orUnavailable,
  )

/** The same over a separate connection. */
export const recordBaseUrlAt = (databaseUrl: string, baseUrl: string) => ofItsOwn(databaseUrl, recordBaseUrl(baseUrl))

/** Removes this URL over a separate connection, if it is still the recorded one. */
export const forgetBaseUrlAt = (databaseUrl: string, baseUrl: string) =>
  ofItsOwn(
    databaseUrl,
    PgClient.PgClient.use((sql) => sql.unsafe(FORGET, [baseUrl])),
  )
