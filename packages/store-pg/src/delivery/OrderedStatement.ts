/** The statements of addresses in order: what may be claimed, and what a claim has done. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { behind } from "../feed/Behind.ts"
import { FOLLOWER_ROW } from "../follower/FollowerStatement.ts"
import { HAS_ENDED } from "./OrderedPageStatement.ts"
import { ADDRESS_HEALTH } from "./SettleStatement.ts"

const PLACE = ["f.epoch", "f.xid", "f.event_id"] as const

/** An address looks past events of other sources this often. */
const PASS_OTHERS = "interval '30 seconds'"

/** Channels whose events are delivered: those of files are history. */
export const DELIVERED_CHANNELS = CHANNELS.filter((channel) => channel !== "file")

const IS_BEHIND = `EXISTS (${behind("1", PLACE, "", "1")})`

/** An event of one of the sources of any of its rules. Other events alone make it due only now and then. */
export const HAS_EVENTS = `CASE
  WHEN (SELECT bool_or(r.every_source) FROM cabinet.address_rule r WHERE r.address_id = o.address_id) THEN ${IS_BEHIND}
  ELSE EXISTS (
    SELECT FROM (SELECT DISTINCT unnest(r.sources) AS id FROM cabinet.address_rule r WHERE r.address_id = o.address_id) s
    CROSS JOIN LATERAL (${DELIVERED_CHANNELS.map(
      (channel) => `(SELECT FROM cabinet.event e
      WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > (s.id, '${channel}', ${PLACE.join(", ")})
        AND (e.source_id, e.channel) <= (s.id, '${channel}') LIMIT 1)`,
    ).join(" UNION ALL ")}) e
  ) OR (NOT a.in_order AND f.failures = 0)
    OR (coalesce(f.moved_at, '-infinity') < cabinet.now() - ${PASS_OTHERS} AND ${IS_BEHIND}) END`

/** Deliveries from the time before the order are finished first, including those that the fan-out is still to write. */
const IS_FIRST = `(o.rows_before IS NULL AND o.events_before IS NULL OR NOT EXISTS (
    SELECT FROM cabinet.delivery d
    WHERE d.address_id = o.address_id AND d.state = 'due' AND d.type <> 'ping' AND (d.id <= o.rows_before OR d.event_id <= o.events_before))
  AND NOT EXISTS (SELECT FROM cabinet.fan_out q WHERE q.as_of <= o.events_before)
  AND NOT EXISTS (SELECT FROM cabinet.filtered_fan_out q WHERE q.event_id <= o.events_before))`

/** $1: whether their first event has failed. */
const CLAIMABLE = `cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
  JOIN cabinet.address a ON a.id = o.address_id
  WHERE a.paused_at IS NULL AND a.removed_at IS NULL AND NOT ${HAS_ENDED} AND (f.failures > 0) = $1::bool`

/** $1: as above, $2: how many. Claims those that have waited longest. */
export const LOCK_CLAIMABLE = `
SELECT ${FOLLOWER_ROW} FROM ${CLAIMABLE}
  AND f.leased_until <= cabinet.now() AND f.not_before <= cabinet.now() AND ${IS_FIRST} AND ${HAS_EVENTS}
ORDER BY f.moved_at NULLS FIRST, f.id LIMIT $2::int4 FOR UPDATE OF f SKIP LOCKED`

/** $1: as above. No row if no address is in order. */
export const NEXT_DUE = `
SELECT (extract(epoch FROM min(greatest(f.leased_until, f.not_before))
    FILTER (WHERE ${HAS_EVENTS} AND ${IS_FIRST}) - cabinet.now()) * 1000)::float8 AS millis,
  (SELECT count(*)::int4 FROM cabinet.ordered_delivery) AS known
FROM ${CLAIMABLE}`

/** $1: followers that were claimed. */
export const FORGET_EARLIER = `
UPDATE cabinet.ordered_delivery SET rows_before = NULL, events_before = NULL
WHERE follower_id = ANY ($1::int8[]) AND (rows_before IS NOT NULL OR events_before IS NOT NULL)`

/** $1: id, $2 to $4: the place, $5: fencing token, $6 and $7: the ends of lease and rest in milliseconds, $8: failures, $9: error, $10: whether it has moved. */
export const SET_FOLLOWER = `
UPDATE cabinet.follower SET epoch = $2::int8, xid = $3::int8, event_id = $4::int8, lease = $5::int8,
  leased_until = to_timestamp($6::float8 / 1000), not_before = to_timestamp($7::float8 / 1000), failures = $8::int4, error = $9::text,
  moved_at = CASE WHEN $10::bool THEN cabinet.now() ELSE moved_at END
WHERE id = $1::int8`

/** $1: follower, $2: lines as JSON, $3 and $4: whether the last of them was delivered, and its status. */
export const LOG = `
WITH clock AS MATERIALIZED (SELECT cabinet.now() AS at),
held AS MATERIALIZED (
  SELECT o.address_id, $3::bool AS delivered, $4::int4 AS status, 'event.received' AS type
  FROM cabinet.ordered_delivery o WHERE o.follower_id = $1::int8
),
logged AS (
INSERT INTO cabinet.attempt
  (delivery_id, number, address_id, at, delivered, duration_ms, timing, peer, status, failure, response_body, next_at, event_id, delivery_created_at, events)
SELECT l.delivery, l.number, o.address_id, cabinet.now() - make_interval(secs => l.ago / 1000), l.delivered, l.ms, l.timing, l.peer, l.status,
  l.failure, l.response_body, CASE WHEN l.next IS NOT NULL THEN cabinet.now() + make_interval(secs => l.next / 1000) END, l.event,
  l.created_at, l.events
FROM cabinet.ordered_delivery o CROSS JOIN json_to_recordset($2::json) AS l (
  delivery int8, number int4, event int8, events int4, created_at timestamptz, ago float8, delivered bool, ms int4, timing int4[], peer text, status int4,
  failure text, response_body text, next float8)
WHERE o.follower_id = $1::int8
),
${ADDRESS_HEALTH}`

/** $1: follower, $2: how many events its filter excluded. */
export const COUNT_FILTERED = `
INSERT INTO cabinet.filtered_events AS f (address_id, events)
SELECT o.address_id, $2::int8 FROM cabinet.ordered_delivery o WHERE o.follower_id = $1::int8
ON CONFLICT (address_id) DO UPDATE SET events = f.events + excluded.events`

/** $1: follower. Ends it, if its address has no order any more and everything from that time is done. */
export const END_FOLLOWER = `
WITH done AS MATERIALIZED (
  SELECT o.address_id, f.id FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
  JOIN cabinet.address a ON a.id = o.address_id AND NOT a.in_order
  WHERE f.id = $1::int8 AND (f.epoch, f.xid) >= (
    SELECT r.epoch, r.xid FROM cabinet.address_rule r WHERE r.address_id = o.address_id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1)
), rules AS (
  DELETE FROM cabinet.address_rule r USING done WHERE r.address_id = done.address_id
), extra AS (
  DELETE FROM cabinet.ordered_delivery o USING done WHERE o.address_id = done.address_id
)
DELETE FROM cabinet.follower f USING done WHERE f.id = done.id`

/** $1: address. Locks its follower. */
export const LOCK_OF_ADDRESS = `
SELECT ${FOLLOWER_ROW} FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
WHERE o.address_id = $1::int8 FOR UPDATE OF f`

/** The event at which a follower waits: the first after its position that was given a number. */
export interface WaitingRow {
  readonly id: string
  readonly epoch: string
  readonly xid: string
  readonly delivery: string
}

/** $1: follower. */
export const WAITING = `
SELECT e.id::text AS id, e.epoch::text AS epoch, e.xid::text AS xid, u.delivery::text AS delivery
FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
CROSS JOIN LATERAL unnest(o.event_ids, o.delivery_ids) AS u(event, delivery) JOIN cabinet.event e ON e.id = u.event
WHERE o.follower_id = $1::int8 AND (e.epoch, e.xid, e.id) > (f.epoch, f.xid, f.event_id) AND e.deleted_at IS NULL
ORDER BY e.epoch, e.xid, e.id LIMIT 1`

/** $1: address. */
export const IS_ADDRESS = "SELECT 1 AS one FROM cabinet.address a WHERE a.id = $1::int8 AND a.removed_at IS NULL"

/** $1: address, $2: delivery, $3: event, $4: attempts, $5: reason. The skipped delivery is listed as cancelled. */
export const SKIPPED = `
WITH event AS (SELECT e.id, e.received_at FROM cabinet.event e WHERE e.id = $3::int8), cancelled AS (
  INSERT INTO cabinet.delivery (id, address_id, event_id, state, attempts, created_at, due_at)
  SELECT $2::int8, $1::int8, e.id, 'cancelled', $4::int4, e.received_at, cabinet.now() FROM event e ON CONFLICT DO NOTHING
)
INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, failure, event_id, delivery_created_at)
SELECT $2::int8, $4::int4, $1::int8, cabinet.now(), false, 0, $5::text, e.id, e.received_at FROM event e`
