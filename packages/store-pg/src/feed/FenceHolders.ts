/** Lists the sessions that the feed waits for, oldest first. */
import type { FenceHolder } from "@data-cabinet/core/feed/FenceHolder"
import { PgClient } from "@effect/sql-pg"
import { HOLDERS } from "./Fence.ts"

/** A session without a transaction id holds nothing back: it will get one above everything shown. */
const FENCE_HOLDERS = `
SELECT h.pid, coalesce(h.application_name, '') AS application, cabinet.rfc3339(h.xact_start) AS since,
       coalesce(extract(epoch FROM clock_timestamp() - h.xact_start), 0)::float8 AS seconds
FROM (SELECT DISTINCT a.pid, a.application_name, a.xact_start
      FROM ${HOLDERS} AND (a.backend_xid IS NOT NULL OR a.xact_start IS NULL)) h
ORDER BY h.xact_start NULLS FIRST`

export const fenceHolders = PgClient.PgClient.use((sql) => sql.unsafe<FenceHolder>(FENCE_HOLDERS))
