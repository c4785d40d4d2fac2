/**
 * Determines when a cabinet that no process has open has to be opened. It uses one connection and closes it at once, so
 * that a server with very many cabinets holds none for idle ones.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import * as SessionPool from "../connection/SessionPool.ts"
import { HAS_EVENTS } from "../delivery/OrderedStatement.ts"
import { DESTINATION } from "@data-cabinet/core/destination/Destination"
import { HAS_FAN_OUT, HAS_EVENTS as IS_BEHIND } from "../follower/FollowerStatement.ts"
import { short } from "../connection/SessionSettings.ts"
import { connectionLossAsError } from "../connection/StoreFailure.ts"
import { nextOriginal } from "./OldOriginals.ts"

/** How often an unopened cabinet is opened to check for notices. */
const NOTICE_ROUND = "interval '1 hour'"

/**
 * Items that wait until their source is switched on again do not count; they would keep the cabinet open for nothing.
 */
const NEXT_WORK = `
  SELECT extract(epoch FROM least(
    (SELECT min(coalesce(d.leased_until, d.due_at)) FROM cabinet.delivery d JOIN cabinet.address a ON a.id = d.address_id
     WHERE d.state = 'due' AND a.paused_at IS NULL AND a.removed_at IS NULL),
    (SELECT min(greatest(f.leased_until, f.not_before)) FROM cabinet.ordered_delivery o
     JOIN cabinet.follower f ON f.id = o.follower_id JOIN cabinet.address a ON a.id = o.address_id
     WHERE a.paused_at IS NULL AND a.removed_at IS NULL AND ${HAS_EVENTS}),
    (SELECT min(p.due_at) FROM cabinet.poll p JOIN cabinet.source s ON s.id = p.source_id
     WHERE p.removed_at IS NULL AND p.paused_at IS NULL AND s.deleted_at IS NULL AND s.archived_at IS NULL),
    (SELECT cabinet.now() FROM cabinet.import m JOIN cabinet.source s ON s.id = m.source_id
     WHERE m.state = 'accepting' AND (s.archived_at IS NULL OR s.deleted_at IS NOT NULL) LIMIT 1),
    (SELECT cabinet.now() FROM cabinet.deferred_row LIMIT 1),
    (SELECT f.not_before FROM cabinet.follower f WHERE f.kind = 'deliveries' AND ${HAS_FAN_OUT}),
    (SELECT min(greatest(f.leased_until, f.not_before)) FROM cabinet.follower f WHERE f.kind = '${DESTINATION}' AND ${IS_BEHIND}),
    (SELECT n.round_at + ${NOTICE_ROUND} FROM cabinet.notice_source n JOIN cabinet.source s ON s.id = n.source_id
     WHERE s.deleted_at IS NULL AND s.archived_at IS NULL)) - cabinet.now())::float8 AS seconds`

/**
 * $1 to $3: how many days delivered attempts, failed ones and the audit log are kept. Their partitions are dropped
 * whole.
 */
const NEXT_PARTITION = `
  SELECT extract(epoch FROM min((to_date(right(c.relname, 8), 'YYYYMMDD') + 1 + kept.days)::timestamp AT TIME ZONE 'UTC')
    - cabinet.now())::float8 AS seconds
  FROM (VALUES ('cabinet.attempt_delivered'::regclass, $1::int4), ('cabinet.attempt_failed'::regclass, $2::int4),
    ('cabinet.audit'::regclass, $3::int4)) AS kept(parent, days)
  JOIN pg_catalog.pg_inherits i ON i.inhparent = kept.parent JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  WHERE c.relname ~ '_[0-9]{8}$'`

/** The number of days after which retention deletes. */
export interface KeptDays {
  readonly originalDays: number
  readonly logDays: number
  readonly failedLogDays: number
  readonly auditDays: number
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/** Seconds until work is due, negative if overdue; null if no work is scheduled. Deleting expired data is also work. */
export const nextDue = (url: string, kept: KeptDays): Effect.Effect<number | null, SqlError.SqlError> =>
  PgClient.PgClient.use((sql) =>
    Effect.gen(function* () {
      const ask = (text: string, values: ReadonlyArray<number> = []) =>
        Effect.map(sql.unsafe<{ readonly seconds: number | null }>(text, [...values]), ([row]) => row!.seconds)
      const work = yield* ask(NEXT_WORK)
      const partition = yield* ask(NEXT_PARTITION, [kept.logDays, kept.failedLogDays, kept.auditDays])
      return earlier(earlier(work, partition), yield* nextOriginal(sql, kept.originalDays))
    }),
  ).pipe(
    connectionLossAsError,
    Effect.provide(
      SessionPool.layer({
        url,
        maxConnections: 1,
        connectTimeout: "3 seconds",
        applicationName: "data-cabinet due check",
        settings: short(5_000),
      }),
      { local: true },
    ),
  )
