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

const LAST_OF_ALL = `SELECT * FROM (${CHANNELS.map(
  (channel) => `(
  SELECT e.epoch, e.xid, e.id FROM cabinet.event e WHERE e.channel = '${channel}'
  ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1)`,
).join(" UNION ALL ")}) e ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1`

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

/**
 * $1: whether their first event has failed. An address that is paused costs one row, and one that waits no more than that: only
 * those that may be claimed are compared with the events. These are looked up once for each source, not for each address.
 */
const CANDIDATES = `
clock AS MATERIALIZED (SELECT cabinet.now() AS at),
candidate AS MATERIALIZED (
  SELECT f.id, o.address_id, o.rows_before, o.events_before, a.in_order, f.epoch, f.xid, f.event_id, f.failures, f.moved_at,
    greatest(f.leased_until, f.not_before) AS due_at
  FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id JOIN cabinet.address a ON a.id = o.address_id
  WHERE a.paused_at IS NULL AND a.removed_at IS NULL AND (f.failures > 0) = $1::bool AND NOT ${HAS_ENDED}
),
free AS MATERIALIZED (SELECT c.* FROM candidate c CROSS JOIN clock WHERE c.due_at <= clock.at),
meant AS MATERIALIZED (
  SELECT DISTINCT r.address_id, s.id AS source_id FROM free f JOIN cabinet.address_rule r ON r.address_id = f.address_id
  CROSS JOIN LATERAL (SELECT NULL::int8 AS id WHERE r.every_source UNION ALL SELECT unnest(r.sources) WHERE NOT r.every_source) s
),
last AS MATERIALIZED (${LAST_OF_ALL}),
latest AS MATERIALIZED (
  SELECT m.source_id, e.epoch, e.xid, e.id FROM (SELECT DISTINCT source_id FROM meant WHERE source_id IS NOT NULL) m
  CROSS JOIN LATERAL (SELECT * FROM (${DELIVERED_CHANNELS.map(
    (channel) => `(
    SELECT e.epoch, e.xid, e.id FROM cabinet.event e WHERE e.source_id = m.source_id AND e.channel = '${channel}'
    ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1)`,
  ).join(" UNION ALL ")}) e ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1) e
),
behind AS MATERIALIZED (
  SELECT DISTINCT o.id FROM free o JOIN meant m ON m.address_id = o.address_id LEFT JOIN latest l ON l.source_id = m.source_id
  CROSS JOIN clock LEFT JOIN last ON true
  WHERE (l.epoch, l.xid, l.id) > (o.epoch, o.xid, o.event_id) OR (NOT o.in_order AND o.failures = 0)
    OR ((last.epoch, last.xid, last.id) > (o.epoch, o.xid, o.event_id)
      AND (m.source_id IS NULL OR coalesce(o.moved_at, '-infinity') < clock.at - ${PASS_OTHERS}))
)`

/** $1: as above, $2: how many. Claims those that have waited longest. */
export const LOCK_CLAIMABLE = `
WITH ${CANDIDATES},
first AS MATERIALIZED (SELECT o.id FROM free o JOIN behind ON behind.id = o.id WHERE ${IS_FIRST})
SELECT ${FOLLOWER_ROW} FROM first JOIN cabinet.follower f ON f.id = first.id
WHERE (f.failures > 0) = $1::bool AND f.leased_until <= cabinet.now() AND f.not_before <= cabinet.now()
ORDER BY f.moved_at NULLS FIRST, f.id LIMIT $2::int4 FOR UPDATE OF f SKIP LOCKED`

/** $1: as above. No row if no address is in order. One that waits or rests is due when that ends. */
export const NEXT_DUE = `
WITH ${CANDIDATES}
SELECT (extract(epoch FROM least(
    (SELECT min(c.due_at) FROM candidate c CROSS JOIN clock WHERE c.due_at > clock.at),
    (SELECT min(o.due_at) FROM free o JOIN behind ON behind.id = o.id WHERE ${IS_FIRST})) - cabinet.now()) * 1000)::float8 AS millis,
  (SELECT count(*)::int4 FROM cabinet.ordered_delivery) AS known`

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

/** The event at which follower `f` of `o` waits. */
export const FIRST_WAITING = `
  SELECT e.id, e.epoch, e.xid, u.delivery FROM unnest(o.event_ids, o.delivery_ids) AS u(event, delivery)
  JOIN cabinet.event e ON e.id = u.event
  WHERE (e.epoch, e.xid, e.id) > (f.epoch, f.xid, f.event_id) AND e.deleted_at IS NULL
  ORDER BY e.epoch, e.xid, e.id LIMIT 1`

/** $1: follower. */
export const WAITING = `
SELECT w.id::text AS id, w.epoch::text AS epoch, w.xid::text AS xid, w.delivery::text AS delivery
FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id CROSS JOIN LATERAL (${FIRST_WAITING}) w
WHERE o.follower_id = $1::int8`

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

/** How far an address `a` in order has come, as JSON. Its lag is that of the first event after it, of whatever source. */
export const ORDERED_POSITION = `SELECT json_build_object('eventId', nullif(f.event_id, 0), 'behindSeconds', greatest(0, coalesce(extract(epoch FROM cabinet.now() - w.since), 0)),
    'waitsAt', CASE WHEN f.failures > 0 THEN (SELECT w.id FROM (${FIRST_WAITING}) w) END, 'failures', f.failures,
    'error', f.error, 'retryAt', CASE WHEN f.failures > 0 THEN cabinet.rfc3339(f.not_before) END)::text
  FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id CROSS JOIN LATERAL (
    SELECT min(e.received_at) AS since FROM (${behind("e.received_at", ["f.epoch", "f.xid", "f.event_id"], "", "1")}) e
  ) w WHERE o.address_id = a.id`

/** An address `a` in order waits after a failure. */
export const WAITS = `a.id IN (
    SELECT o.address_id FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id WHERE f.failures > 0)`

/** An address `a` in order gets the events of this source, by its latest rule. */
export const getsOf = (source: string): string => `EXISTS (
  SELECT FROM (
    SELECT r.every_source, r.sources FROM cabinet.address_rule r WHERE r.address_id = a.id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
  ) r WHERE r.every_source OR ${source} = ANY (r.sources))`
