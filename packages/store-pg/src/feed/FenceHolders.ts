/** Names the sessions that the feed waits for, oldest first. */
import type { FenceHolder } from "@data-cabinet/core/feed/FenceHolder"
import { PgClient } from "@effect/sql-pg"
import { HOLDERS } from "./Fence.ts"

/** One that has no transaction id yet holds nothing back: it will get one past whatever is shown. */
const FENCE_HOLDERS = `
SELECT a.pid, coalesce(a.application_name, '') AS application, cabinet.rfc3339(a.xact_start) AS since,
       coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8 AS seconds
FROM ${HOLDERS} AND (a.backend_xid IS NOT NULL OR a.xact_start IS NULL)
ORDER BY a.xact_start NULLS FIRST`

export const fenceHolders = PgClient.PgClient.use((sql) => sql.unsafe<FenceHolder>(FENCE_HOLDERS))
