/**
 * Measures for the operator how many of PostgreSQL's sessions are in use. The server, the role and the database may each have
 * a limit; the one that leaves the fewest is shown.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric } from "effect"

const used = Metric.gauge("database_sessions", {
  description:
    "Sessions in use under the limit that leaves the fewest: that of the server, of the role or of the database.",
})
const limit = Metric.gauge("database_sessions_limit", {
  description: "The number of sessions that this limit allows.",
})

/** A role or a database without a limit has -1. Only sessions of clients count. */
const TIGHTEST = `
WITH client AS MATERIALIZED (
  SELECT a.datid, a.usesysid FROM pg_catalog.pg_stat_activity a
  WHERE a.usesysid IS NOT NULL AND (a.backend_type IS NULL OR a.backend_type = 'client backend'))
SELECT d.datname::text AS database, one.used, one.most
FROM pg_catalog.pg_roles r, pg_catalog.pg_database d, LATERAL (VALUES
  ((SELECT pg_catalog.count(*)::int4 FROM client),
   pg_catalog.current_setting('max_connections')::int4
     - pg_catalog.current_setting('superuser_reserved_connections')::int4
     - coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::int4),
  ((SELECT pg_catalog.count(*)::int4 FROM client WHERE usesysid = r.oid), r.rolconnlimit),
  ((SELECT pg_catalog.count(*)::int4 FROM client WHERE datid = d.oid), d.datconnlimit)) one (used, most)
WHERE r.rolname = CURRENT_USER AND d.datname = pg_catalog.current_database() AND one.most >= 0
ORDER BY one.most - one.used LIMIT 1`

/** Checks once. */
export const watchSessions = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const found = yield* sql.unsafe<{ database: string; used: number; most: number }>(TIGHTEST)
    yield* gauges.show(
      found.flatMap(({ database, used: inUse, most }) => [
        { gauge: used, labels: { database }, value: inUse },
        { gauge: limit, labels: { database }, value: most },
      ]),
    )
  })

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  Effect.flatMap(liveGauges, (gauges) =>
    background("database session watch", "30 seconds", watchSessions(gauges), { quiet: true }),
  ),
)
