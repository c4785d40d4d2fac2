/** The statements that write the deliveries of events after their accepts. */
import { HOLDERS } from "../feed/Fence.ts"

/** $1: how many. The first events whose deliveries are to be written. */
export const FIRST = `
SELECT as_of::text AS as_of, event_id::text AS event_id, is_filtered FROM (
  (SELECT as_of, event_id, false AS is_filtered FROM cabinet.fan_out ORDER BY as_of LIMIT $1::int)
  UNION ALL (SELECT event_id, event_id, true FROM cabinet.filtered_fan_out ORDER BY event_id LIMIT $1::int)
) q ORDER BY q.as_of, q.is_filtered DESC LIMIT $1::int`

/**
 * $1: events. Locks those that no other transaction is changing: a cancellation sees everything that is written here,
 * or is seen here. The others are left for later, so that nobody waits for a session that stalls.
 */
export const HOLD_EVENTS = `
SELECT id::text AS id FROM cabinet.event WHERE id = ANY ($1::int8[]) ORDER BY id FOR SHARE SKIP LOCKED`

/** What is to be written of one event: to addresses without a filter, or to those whose filters it passed. */
export interface FirstRow {
  readonly as_of: string
  readonly event_id: string
  readonly is_filtered: boolean
}

export interface FanOutRow extends FirstRow {
  readonly source_id: string
  readonly at: string
  readonly address_id: string
  readonly except_address: string
  readonly again: boolean
  readonly younger: boolean | null
  readonly is_deleted: boolean
  readonly epoch: number
  readonly xid: string
  readonly id: number
}

/** $1 and $2: what is to be written, to addresses without a filter and to others, $3: the events that are held. */
export const HELD = `
SELECT q.as_of::text AS as_of, q.event_id::text AS event_id, q.is_filtered, q.source_id::text AS source_id, q.at::text AS at,
  q.address_id::text AS address_id, q.except_address::text AS except_address, q.again, q.younger, e.deleted_at IS NOT NULL AS is_deleted,
  e.epoch::float8 AS epoch, e.xid::text AS xid, e.id::float8 AS id
FROM (
  SELECT as_of, event_id, false AS is_filtered, source_id, at, address_id, except_address, again, younger
  FROM cabinet.fan_out WHERE as_of = ANY ($1::int8[])
  UNION ALL
  SELECT event_id, event_id, true, 0, at, 0, 0, false, NULL FROM cabinet.filtered_fan_out WHERE event_id = ANY ($2::int8[])
) q JOIN cabinet.event e ON e.id = q.event_id
WHERE q.event_id = ANY ($3::int8[]) ORDER BY q.as_of, q.is_filtered DESC`

/** $1: the event number at which a subscription counts, $4: addresses up to this one have theirs, $5: how many. */
const subscribersOf = (source: string) => `(
    SELECT n.address_id FROM cabinet.subscription n
    WHERE n.source_id = ${source} AND n.address_id > $4::int8 AND n.after_event < $1::int8
      AND (n.until_event IS NULL OR n.until_event >= $1::int8)
    ORDER BY n.address_id LIMIT $5::int)`

const PICKED = `picked AS MATERIALIZED (
  SELECT o.address_id FROM (${subscribersOf("0")} UNION ALL ${subscribersOf("$2::int8")}) o ORDER BY 1 LIMIT $5::int
)`

const written = (further: string) => `written AS (
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT p.address_id, $3::int8, $6::timestamptz, $6::timestamptz FROM picked p
  WHERE p.address_id <> $7::int8${further} ORDER BY p.address_id
  RETURNING 1
)
SELECT count(*)::int4 AS picked, max(address_id)::text AS last, (SELECT count(*) FROM written)::int4 AS written FROM picked`

/** $2: source, $3: event, $6: when they are due, $7: an address that gets none. */
export const WRITE = `WITH ${PICKED}, ${written("")}`

/** $8: whether only addresses younger than the event get it, or only the others. None gets a second delivery. */
export const WRITE_AGAIN = `WITH ${PICKED}, had AS MATERIALIZED (
  SELECT d.address_id FROM cabinet.delivery_all d
  WHERE d.event_id = $3::int8 AND d.address_id > $4::int8 AND d.address_id <= (SELECT max(address_id) FROM picked)
), ${written(` AND p.address_id NOT IN (SELECT address_id FROM had)
    AND ($8::bool IS NULL OR EXISTS (
      SELECT FROM cabinet.address a JOIN cabinet.event e ON e.id = $3::int8
      WHERE a.id = p.address_id AND (a.created_at > e.received_at) = $8::bool))`)}`

/**
 * $1: event. To all addresses at once, of which there are at most 1,000. A server of the previous version does not
 * know that these deliveries will come, so any address may have one already.
 */
export const WRITE_FILTERED = `
WITH had AS MATERIALIZED (
  SELECT d.address_id FROM cabinet.delivery_all d WHERE d.event_id = $1::int8
), written AS (
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT a.id, q.event_id, q.at, q.at
  FROM cabinet.filtered_fan_out q CROSS JOIN unnest(q.address_ids) p(id) JOIN cabinet.address a ON a.id = p.id AND a.removed_at IS NULL
  WHERE q.event_id = $1::int8 AND a.id NOT IN (SELECT address_id FROM had) ORDER BY a.id
  RETURNING 1
)
SELECT cardinality(address_ids) AS picked, NULL AS last, (SELECT count(*) FROM written)::int4 AS written
FROM cabinet.filtered_fan_out WHERE event_id = $1::int8`

/** $1 and $2: what was written, to all addresses without a filter and to all others. */
export const DROP = `
WITH filtered AS (DELETE FROM cabinet.filtered_fan_out WHERE event_id = ANY ($2::int8[]))
DELETE FROM cabinet.fan_out WHERE as_of = ANY ($1::int8[])`

/** $1: what was written in part, $2: up to this address. */
export const PROCEED = "UPDATE cabinet.fan_out SET address_id = $2::int8 WHERE as_of = $1::int8"

/** Waits until the slice that is being written has committed. */
export const AFTER_SLICE = "SELECT FROM cabinet.follower WHERE kind = 'deliveries' FOR SHARE"

/**
 * Deletes subscriptions that ended before every event whose deliveries are to be written, and before every accept under
 * way.
 */
export const PRUNE_SUBSCRIPTIONS = `
DELETE FROM cabinet.subscription n
WHERE n.ended_at < clock_timestamp() - interval '1 hour'
  AND NOT EXISTS (SELECT FROM cabinet.fan_out q WHERE q.as_of <= n.until_event)
  AND NOT EXISTS (SELECT FROM ${HOLDERS} AND (a.xact_start IS NULL OR a.xact_start <= n.ended_at))`

/** The most deliveries to addresses with a filter that one transaction writes of an event, and in all. */
const MAX_OF_EVENT = 100
export const MAX_IN_ALL = 1_000

/** Whether a follower writes those of these events: accepts wait for each other, and the feed for them. */
export const isForFollower = (passed: Iterable<ReadonlyArray<number>>): boolean => {
  let sum = 0
  for (const { length } of passed) {
    if (length > MAX_OF_EVENT) return true
    sum += length
  }
  return sum > MAX_IN_ALL
}
