/**
 * Diagnostics of a PostgreSQL database. They read only data open to every user, test writing in a transaction that is
 * rolled back, and work on an unhealthy database.
 */
import { REPORTS_GROUP } from "../migrations/ReportsRole.ts"
import {
  CABINET_PARTS,
  type CabinetPart,
  Diagnostics,
  type DiagnosticsReport,
  type RowSetAside,
} from "@data-cabinet/core/diagnostics/Diagnostics"
import { searchFunction } from "@data-cabinet/core/row/SearchSql"
import type { RightBeyondReading } from "@data-cabinet/core/row/ReportLoginStore"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { OPEN_TO_ALL } from "../migrations/CloseDatabase.ts"
import { foldCollation } from "../row/FoldCollation.ts"
import { coldFacts } from "./ColdFacts.ts"
import { outOfLineTables } from "./OutOfLineValues.ts"
import { senderFacts } from "./SenderFacts.ts"
import { tableFacts } from "./TableFacts.ts"
import { authority } from "./Authority.ts"
import { writeFailure } from "./WriteCheck.ts"
import { ROWS_SET_ASIDE } from "../row/SetAsideStatement.ts"
import { TABLES_READ_WHOLE } from "../row/ColumnIndexStatement.ts"
import { RIGHTS_BEYOND_READING } from "../row/ReportLoginStatement.ts"
import { OUTDATED_SEARCH_INDEXES } from "../row/SearchIndexStatement.ts"
import { SLOW_LATELY } from "../row/SlowReads.ts"
import { fenceHolders } from "../feed/FenceWatch.ts"
import { listFollowers } from "../follower/PgFollowerStore.ts"
import { roleName } from "../migrations/RoleLogins.ts"

const GENERAL = `
SELECT current_setting('server_version') AS server_version,
       EXISTS (SELECT FROM pg_roles WHERE rolname = '${REPORTS_GROUP}') AS is_embedded, current_database()::text AS database, current_user::text AS "user",
       pg_database_size(current_database())::text AS database_bytes,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::text FROM pg_class c
        WHERE c.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('cabinet', 'sources')) AND c.relkind = 'r') AS cabinet_bytes,
       pg_is_in_recovery() AS is_standby,
       (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS synchronous_commit,
       (SELECT string_agg(name, ', ' ORDER BY name) FROM pg_settings
        WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off') AS switched_off,
       (SELECT ${OPEN_TO_ALL} FROM pg_database d WHERE d.datname = current_database()) AS is_open_to_all,
       EXISTS (SELECT FROM pg_roles r JOIN cabinet.role_password l ON l.role = r.rolname
               WHERE r.rolname LIKE '%author' AND coalesce(r.rolvaliduntil, 'infinity') = 'infinity') AS author_stays,
       EXISTS (SELECT FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
               WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = 'pg_advisory_lock' AND a.grantee = 0) AS locks_for_all,
       (SELECT count(*)::int4 FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
       current_setting('max_connections')::int4 AS max_connections,
       (SELECT count(*)::int4 FROM cabinet.deferred_row) AS deferred_rows,
       (SELECT cabinet.rfc3339(max(seen_at)) FROM cabinet.setback
        WHERE seen_at > clock_timestamp() - interval '7 days') AS set_back_at,
       (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::int4 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()) AS longest`

/** Grouped by the table that a partition belongs to. */
const SIZES = `
SELECT CASE WHEN schema = 'sources' THEN 'rows'
         WHEN name = 'event' THEN 'events' WHEN name = 'original_request' THEN 'originals' WHEN name = 'delivery' THEN 'deliveries'
         WHEN name = 'attempt' THEN 'attempts' WHEN name = 'staged_row' THEN 'staged' WHEN name = 'poll_seen' THEN 'seen'
         ELSE 'other' END AS part, sum(bytes)::text AS bytes
FROM (
  SELECT n.nspname AS schema, coalesce(root.relname, c.relname) AS name, pg_total_relation_size(c.oid) AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_class root ON root.oid = pg_partition_root(c.oid)
  WHERE n.nspname IN ('cabinet', 'sources') AND c.relkind = 'r'
) one GROUP BY 1`

const PARTITIONS = `
SELECT p.relname::text AS "table", to_char(max(right(c.relname, 8)::date), 'YYYY-MM-DD') AS until,
       coalesce(max(right(c.relname, 8)::date) - (cabinet.now() AT TIME ZONE 'UTC')::date, -1)::int4 AS days_ahead
FROM pg_class p LEFT JOIN pg_inherits i ON i.inhparent = p.oid
  LEFT JOIN pg_class c ON c.oid = i.inhrelid AND c.relname ~ '_[0-9]{8}$'
WHERE p.relnamespace = 'cabinet'::regnamespace AND p.relkind = 'p' AND p.relname = ANY ('{original_request,attempt_delivered,attempt_failed}')
GROUP BY p.relname ORDER BY p.relname`

const FAILING_POLLS = `
SELECT id::float8 AS id, source_id::float8 AS "sourceId", failures FROM cabinet.poll
WHERE failures > 0 AND removed_at IS NULL AND paused_at IS NULL ORDER BY id`

/**
 * An import refused before it was accepted was reported to its submitter, and a cancelled one is known; a file submitted
 * again successfully is done.
 */
const FAILED_IMPORTS = `
SELECT m.id::float8 AS id, m.source_id::float8 AS "sourceId", m.name, m.staged::float8 AS staged, m.accepted::float8 AS accepted,
  coalesce(m.failure, '') AS failure
FROM cabinet.import m JOIN cabinet.source s ON s.id = m.source_id AND s.deleted_at IS NULL
WHERE m.state = 'failed' AND m.cancelled_at IS NULL AND m.staged > 0 AND m.finished_at > cabinet.now() - interval '7 days'
  AND NOT EXISTS (SELECT FROM cabinet.import l WHERE l.source_id = m.source_id AND l.id > m.id AND l.state = 'done'
    AND (l.sha256 = m.sha256 OR l.poll_id = m.poll_id))
ORDER BY m.id DESC LIMIT 5`

interface SetAside extends RowSetAside {
  readonly total: number
}

interface General {
  readonly server_version: string
  readonly is_embedded: boolean
  readonly database: string
  readonly user: string
  readonly database_bytes: string
  readonly cabinet_bytes: string
  readonly is_standby: boolean
  readonly synchronous_commit: string
  readonly switched_off: string | null
  readonly is_open_to_all: boolean
  readonly author_stays: boolean
  readonly locks_for_all: boolean
  readonly connections: number
  readonly max_connections: number
  readonly deferred_rows: number
  readonly set_back_at: string | null
  readonly longest: number
}

export const layer = Layer.effect(
  Diagnostics,
  Effect.zipWith(PgClient.PgClient, coldFacts, (sql, cold) =>
    Diagnostics.of({
      examine: Effect.gen(function* () {
        const [general] = yield* sql.unsafe<General>(GENERAL)
        const holders = yield* Effect.provideService(fenceHolders, PgClient.PgClient, sql)
        const sizes = yield* sql.unsafe<{ part: CabinetPart; bytes: string }>(SIZES)
        const partitions = yield* sql.unsafe<{ table: string; until: string | null; days_ahead: number }>(PARTITIONS)
        const failingPolls = yield* sql.unsafe<DiagnosticsReport["failingPolls"][number]>(FAILING_POLLS)
        const setAside = yield* sql.unsafe<SetAside>(ROWS_SET_ASIDE)
        const senders = yield* senderFacts(sql)
        const tables = yield* tableFacts(sql)
        const failedImports = yield* sql.unsafe<DiagnosticsReport["failedImports"][number]>(FAILED_IMPORTS)
        const searching = searchFunction(yield* foldCollation(sql)).sql
        const outdated = yield* sql.unsafe<{ name: string }>(OUTDATED_SEARCH_INDEXES, [`${searching}(text[])`])
        const tablesReadWhole = yield* sql.unsafe<DiagnosticsReport["tablesReadWhole"][number]>(TABLES_READ_WHOLE)
        const slowReads = yield* sql.unsafe<DiagnosticsReport["slowReads"][number]>(SLOW_LATELY)
        const reports = roleName(general!.database, "reports")
        const [login] = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${reports} AND rolcanlogin`
        const reportRights =
          login === undefined ? null : yield* sql.unsafe<RightBeyondReading>(RIGHTS_BEYOND_READING, [reports])
        const outOfLineValues = yield* outOfLineTables(sql)
        const cannotWrite = yield* Effect.provideService(
          writeFailure("a megabyte could not be written within 4 s"),
          PgClient.PgClient,
          sql,
        )
        const before = yield* Clock.currentTimeMillis
        const [clock] = yield* sql<{ now: number }>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`
        const after = yield* Clock.currentTimeMillis
        return {
          serverVersion: general!.server_version.split(" ")[0]!,
          isEmbedded: general!.is_embedded,
          database: general!.database,
          user: general!.user,
          databaseBytes: Number(general!.database_bytes),
          cabinetBytes: Number(general!.cabinet_bytes),
          sizes: Object.fromEntries(
            CABINET_PARTS.map((part) => [part, Number(sizes.find((one) => one.part === part)?.bytes ?? 0)]),
          ) as DiagnosticsReport["sizes"],
          outOfLineValues,
          clockSkewMillis: Math.round(clock!.now - (before + after) / 2),
          isStandby: general!.is_standby,
          synchronousCommit: general!.synchronous_commit,
          switchedOff: general!.switched_off,
          cannotWrite,
          isOpenToAll: general!.is_open_to_all,
          authorStays: general!.author_stays,
          locksForAll: general!.locks_for_all,
          connections: general!.connections,
          maxConnections: general!.max_connections,
          fenceHolders: holders,
          setBackAt: general!.set_back_at,
          followers: yield* listFollowers(sql),
          cold: yield* cold,
          deferredRows: general!.deferred_rows,
          rowsSetAside: {
            count: setAside[0]?.total ?? 0,
            first: setAside.map(({ eventId, sourceId, reason, refused, partial, retryAt }) => ({
              eventId,
              sourceId,
              reason,
              refused,
              partial,
              retryAt,
            })),
          },
          failedImports,
          partitions: partitions.map(({ table, until, days_ahead }) => ({ table, until, daysAhead: days_ahead })),
          failingPolls,
          ...senders,
          ...tables,
          outdatedSearchIndexes: outdated.map(({ name }) => name),
          tablesReadWhole,
          slowReads,
          reportRights,
          authority: yield* Effect.provideService(authority, PgClient.PgClient, sql),
          longestTransactionSeconds: general!.longest,
        } satisfies DiagnosticsReport
      }).pipe(orUnavailable),
    }),
  ),
)
