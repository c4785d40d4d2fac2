/** The statements of followers. They decide nothing: a row is locked, `FollowerLease` decides, and its result is written. */
import { MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { DESTINATION } from "@data-cabinet/core/destination/Destination"
import { REBUILD_KIND } from "@data-cabinet/core/row/RebuildStore"
import { behind, filesBehind } from "../feed/Behind.ts"

/** The columns of a `FollowerRow`. Times are in milliseconds; `now` is that of the database. */
export const FOLLOWER_ROW = `f.id::float8 AS id, f.kind, f.name, f.epoch::float8 AS epoch, f.xid::text AS xid, f.event_id::float8 AS "eventId",
  f.lease::float8 AS lease, (extract(epoch FROM f.leased_until) * 1000)::float8 AS "leasedUntil",
  (extract(epoch FROM f.not_before) * 1000)::float8 AS "notBefore", f.failures, (extract(epoch FROM cabinet.now()) * 1000)::float8 AS now`

/** A follower as its row is read while it is locked. */
export interface FollowerRow {
  readonly id: number
  readonly kind: string
  readonly name: string
  readonly epoch: number
  readonly xid: string
  readonly eventId: number
  readonly lease: number
  readonly leasedUntil: number
  readonly notBefore: number
  readonly failures: number
  readonly now: number
}

const PLACE = ["f.epoch", "f.xid", "f.event_id"] as const

/** Whether there are deliveries to write. */
export const HAS_FAN_OUT =
  "(EXISTS (SELECT FROM cabinet.fan_out) OR EXISTS (SELECT FROM cabinet.filtered_fan_out) OR EXISTS (SELECT FROM cabinet.resend))"

/**
 * Most follow the feed. That of deliveries has a queue, because few sources leave it any work. A rebuild of a table
 * is run only by the process that began it; another process that claims it removes its remains. A paused destination waits.
 */
export const HAS_EVENTS = `CASE f.kind WHEN 'deliveries' THEN ${HAS_FAN_OUT} WHEN '${REBUILD_KIND}' THEN true
  ELSE NOT EXISTS (SELECT FROM cabinet.destination d WHERE f.kind = '${DESTINATION}' AND d.follower_id = f.id AND d.paused_at IS NOT NULL)
    AND (EXISTS (${behind("1", PLACE, "", "1")}) OR f.kind = '${DESTINATION}' AND EXISTS (${filesBehind(PLACE)})) END`

const WAITING = `SELECT e.received_at, 1 AS events FROM (${behind("e.received_at", PLACE, "", String(MOST_BEHIND))}) e WHERE f.kind NOT IN ('deliveries', '${REBUILD_KIND}')
  UNION ALL SELECT c.received_at, c.events FROM (${filesBehind(PLACE)}) c WHERE f.kind = '${DESTINATION}'
  UNION ALL (SELECT q.at, 1 FROM cabinet.fan_out q WHERE f.kind = 'deliveries' ORDER BY q.as_of LIMIT ${MOST_BEHIND})
  UNION ALL (SELECT q.at, 1 FROM cabinet.filtered_fan_out q WHERE f.kind = 'deliveries' ORDER BY q.event_id LIMIT ${MOST_BEHIND})
  UNION ALL (SELECT q.at, 1 FROM cabinet.resend q WHERE f.kind = 'deliveries' ORDER BY q.event_id LIMIT ${MOST_BEHIND})
  UNION ALL (SELECT NULL, 1 FROM cabinet.table_rebuild_change c
    WHERE f.kind = '${REBUILD_KIND}' AND c.source_id::text = f.name LIMIT ${MOST_BEHIND})`

/** $1: kind. Locks the follower that has rested longest, of those that seem free; no row if there is none. */
export const LOCK_CLAIMABLE = `
SELECT ${FOLLOWER_ROW} FROM cabinet.follower f
WHERE f.kind = $1::text AND f.leased_until <= cabinet.now() AND f.not_before <= cabinet.now() AND ${HAS_EVENTS}
ORDER BY f.moved_at NULLS FIRST, f.id LIMIT 1 FOR UPDATE SKIP LOCKED`

/** $1: id. */
export const LOCK_HELD = `SELECT ${FOLLOWER_ROW} FROM cabinet.follower f WHERE f.id = $1::int8 FOR UPDATE`

/** $1: kind, $2: name. No row while another session moves it. */
export const LOCK_FREE = `SELECT ${FOLLOWER_ROW} FROM cabinet.follower f WHERE f.kind = $1::text AND f.name = $2::text FOR UPDATE SKIP LOCKED`

const MILLIS = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`

/** $1: id, $2: fencing token, $3 and $4: the ends of lease and rest, $5: failures, $6: error, $7: holder. */
export const SET_LEASE = `
UPDATE cabinet.follower SET lease = $2::int8, leased_until = ${MILLIS("$3")}, not_before = ${MILLIS("$4")}, failures = $5::int4,
  error = coalesce($6::text, error), holder = coalesce($7::text, holder)
WHERE id = $1::int8`

/** $1: id, $2 to $4: the place, $5: the end of the lease. */
export const SET_PLACE = `
UPDATE cabinet.follower SET epoch = $2::int8, xid = $3::int8, event_id = $4::int8, moved_at = cabinet.now(), failures = 0, error = NULL,
  leased_until = ${MILLIS("$5")}
WHERE id = $1::int8`

/** $1: kind. */
export const NEXT_DUE = `
SELECT (extract(epoch FROM min(greatest(f.leased_until, f.not_before)) - cabinet.now()) * 1000)::float8 AS millis
FROM cabinet.follower f WHERE f.kind = $1::text AND ${HAS_EVENTS}`

export const LIST = `
SELECT f.id::float8 AS id, f.kind, f.name, nullif(f.event_id, 0)::float8 AS "eventId", cabinet.rfc3339(f.moved_at) AS "movedAt",
  w.behind::float8 AS behind, greatest(0, coalesce(extract(epoch FROM cabinet.now() - w.since), 0))::float8 AS "behindSeconds",
  EXISTS (SELECT FROM cabinet.destination d WHERE d.follower_id = f.id AND d.paused_at IS NOT NULL)
    OR EXISTS (SELECT FROM cabinet.ordered_delivery o JOIN cabinet.address a ON a.id = o.address_id
      WHERE o.follower_id = f.id AND a.paused_at IS NOT NULL) AS paused,
  f.failures, f.error, CASE WHEN f.failures > 0 THEN cabinet.rfc3339(f.not_before) END AS "retryAt",
  CASE WHEN f.leased_until > cabinet.now() THEN f.holder END AS holder
FROM cabinet.follower f CROSS JOIN LATERAL (
  SELECT least(coalesce(sum(e.events), 0), ${MOST_BEHIND}) AS behind, min(e.received_at) AS since
  FROM (${WAITING}) e
) w ORDER BY f.kind, f.name`
