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

/** The same over a connection of its own. */
export const recordBaseUrlAt = (databaseUrl: string, baseUrl: string) =>
  recordBaseUrl(baseUrl).pipe(
    Effect.provide(OwnerClient.layer({ url: databaseUrl, maxConnections: 2, applicationName: "data-cabinet start" }), {
      local: true,
    }),
    orUnavailable,
  )
