/**
 * When a cabinet that nobody has open wants to be opened: asked on one connection that is closed at once, so that a
 * server of very many cabinets holds none for those that are idle.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { lossAsFailure } from "../connection/StoreFailure.ts"

const NEXT_WORK = `
  SELECT extract(epoch FROM least(
    (SELECT min(coalesce(d.leased_until, d.due_at)) FROM cabinet.delivery d JOIN cabinet.address a ON a.id = d.address_id
     WHERE d.state = 'due' AND a.paused_at IS NULL AND a.removed_at IS NULL),
    (SELECT min(due_at) FROM cabinet.poll WHERE removed_at IS NULL AND paused_at IS NULL),
    (SELECT cabinet.now() FROM cabinet.import WHERE state = 'accepting' LIMIT 1),
    (SELECT cabinet.now() FROM cabinet.waiting_row LIMIT 1)) - cabinet.now())::float8 AS seconds`

/** Seconds until there is something to do, negative when it is due; null when there is nothing. */
export const nextWork = (url: string): Effect.Effect<number | null, SqlError.SqlError> =>
  PgClient.PgClient.use((sql) => sql.unsafe<{ readonly seconds: number | null }>(NEXT_WORK)).pipe(
    Effect.map(([row]) => row!.seconds),
    lossAsFailure,
    Effect.provide(
      PgClient.layer({
        url: Redacted.make(url),
        maxConnections: 1,
        connectTimeout: "3 seconds",
        applicationName: "data-cabinet look",
        startupParameters: { search_path: "pg_catalog", statement_timeout: "5000" },
      }),
      { local: true },
    ),
  )
