/** The owner's manual operations on deliveries, and the queries over them. */

/** Whether a stored event `e` is delivered. */
export const IS_DELIVERED = `e.repeat_of IS NULL AND NOT e.empty AND NOT e.history AND e.deleted_at IS NULL AND e.spam IS NULL
    AND e.verified IS NOT FALSE`

/**
 * Due now. A delivery cancelled while an attempt was in flight keeps its claim, so that the attempt's outcome is recorded
 * and counts; only the end of its lease then lets it be claimed again.
 */
export const MADE_DUE = `state = 'due', failures = 0, due_at = cabinet.now()`

/**
 * $1: delivery. One with an attempt in flight is left to finish; a ping, which has no event, is not resent. The address
 * must still exist.
 */
export const RESEND = `
  INSERT INTO cabinet.delivery AS d (id, address_id, event_id, attempts, created_at, due_at, last_at, outcome)
  SELECT k.id, k.address_id, k.event_id, k.attempts, k.created_at, cabinet.now(), k.last_at, k.outcome FROM cabinet.delivery_all k
  WHERE k.id = $1::bigint
    AND EXISTS (SELECT FROM cabinet.address a WHERE a.id = k.address_id AND a.removed_at IS NULL)
    AND EXISTS (SELECT FROM cabinet.event e WHERE e.id = k.event_id AND e.deleted_at IS NULL)
  ON CONFLICT (id) DO UPDATE SET ${MADE_DUE} WHERE NOT (d.state = 'due' AND d.claimed_at IS NOT NULL)
  RETURNING 1 AS one`

/** $1: delivery. The reason why it could not be resent; null if its attempt was in flight, and has ended since. */
export const WHY_NOT_RESENT = `
  SELECT CASE WHEN d.type = 'ping' THEN 'ping'
    WHEN a.removed_at IS NOT NULL OR a.id IS NULL THEN 'address_removed'
    WHEN e.deleted_at IS NOT NULL OR e.id IS NULL THEN 'event_deleted' END AS why
  FROM cabinet.delivery_all d LEFT JOIN cabinet.address a ON a.id = d.address_id
    LEFT JOIN cabinet.event e ON e.id = d.event_id
  WHERE d.id = $1::bigint`

/** The deliveries in the queue: all that are not in flight, or only those waiting for a retry. */
const resendable = (only: "all" | "failed"): string =>
  `NOT (d.state = 'due' AND d.claimed_at IS NOT NULL)${only === "failed" ? " AND d.state = 'due' AND d.failures > 0" : ""}`

/** $1: address, $2: from, $3: to. How many deliveries would be resent; only deliveries in the queue can have failed. */
export const COUNT_RESENDABLE = (only: "all" | "failed") => `
  SELECT (
    SELECT count(*) FROM cabinet.delivery d JOIN cabinet.event e ON e.id = d.event_id
    WHERE d.address_id = $1::bigint AND d.created_at >= $2::timestamptz AND d.created_at < $3::timestamptz
      AND ${resendable(only)} AND e.deleted_at IS NULL
  )::float8 + ${
    only === "failed"
      ? "0"
      : `(
    SELECT count(*) FROM cabinet.attempt_delivered t JOIN cabinet.event e ON e.id = t.event_id
    WHERE t.address_id = $1::bigint AND t.delivery_created_at >= $2::timestamptz AND t.delivery_created_at < $3::timestamptz
      AND t.at >= $2::timestamptz AND e.deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.id = t.delivery_id)
  )::float8`
  } AS count`

/**
 * One batch over an address's deliveries: how many it examined and resent, and its last position, where the next batch
 * starts.
 */
export interface ResendBatch {
  readonly seen: number
  readonly sent: number
  readonly place: ReadonlyArray<string>
}

/**
 * $1: address, $2: from, $3: to, $4: how many, $5: the delivery to continue after. Covers the deliveries in the queue, by
 * number.
 */
export const RESEND_QUEUED = (only: "all" | "failed") => `
  WITH slice AS MATERIALIZED (
    SELECT d.id FROM cabinet.delivery d JOIN cabinet.event e ON e.id = d.event_id
    WHERE d.address_id = $1::bigint AND d.created_at >= $2::timestamptz AND d.created_at < $3::timestamptz
      AND d.id > $5::bigint AND ${resendable(only)} AND e.deleted_at IS NULL
    ORDER BY d.id LIMIT $4::int FOR UPDATE OF d
  ), sent AS (
    UPDATE cabinet.delivery d SET ${MADE_DUE} FROM slice WHERE d.id = slice.id
  )
  SELECT count(*)::int AS seen, count(*)::int AS sent, ARRAY[max(id)::text] AS place FROM slice`

/**
 * $1 to $4 as above, $5: the delivery and $6: the time of its attempt to continue after. Covers the deliveries that have
 * left the queue, in the order in which they were delivered. Nothing is delivered before it was created, so attempts
 * older than $2 need not be examined. A delivery that is in the queue again is left unchanged.
 */
export const RESEND_DELIVERED = `
  WITH slice AS MATERIALIZED (
    SELECT t.at, t.delivery_id AS id, t.event_id, t.number, t.delivery_created_at FROM cabinet.attempt_delivered t
    WHERE t.address_id = $1::bigint AND t.delivery_created_at >= $2::timestamptz AND t.delivery_created_at < $3::timestamptz
      AND t.at >= $6::timestamptz AND (t.at, t.delivery_id) > ($6::timestamptz, $5::bigint)
    ORDER BY t.at, t.delivery_id LIMIT $4::int
  ), sent AS (
    INSERT INTO cabinet.delivery (id, address_id, event_id, attempts, created_at, due_at, last_at, outcome)
    SELECT id, $1::bigint, event_id, number, delivery_created_at, cabinet.now(), at, 'delivered' FROM slice
    WHERE EXISTS (SELECT FROM cabinet.event e WHERE e.id = slice.event_id AND e.deleted_at IS NULL)
    ORDER BY id ON CONFLICT DO NOTHING RETURNING 1
  )
  SELECT count(*)::int AS seen, (SELECT count(*) FROM sent)::int AS sent,
    (SELECT ARRAY[id::text, at::text] FROM slice ORDER BY at DESC, id DESC LIMIT 1) AS place FROM slice`

/** $1: delivery. An attempt in flight keeps its claim, so that its outcome is still recorded. */
export const CANCEL = `
  UPDATE cabinet.delivery SET state = 'cancelled' WHERE id = $1::bigint AND state = 'due'`

/** $1: address, $2: how many. One batch of the due deliveries of a removed address. */
export const CANCEL_OF_ADDRESS = `
  UPDATE cabinet.delivery SET state = 'cancelled' WHERE id IN (
    SELECT id FROM cabinet.delivery WHERE address_id = $1::bigint AND state = 'due' ORDER BY due_at LIMIT $2::int)`

/** $1: delivery. The newest first. */
export const ATTEMPTS_OF_DELIVERY = `
  SELECT t.delivery_id::float8 AS "deliveryId", d.type, d.event_id::float8 AS "eventId", t.address_id::float8 AS "addressId",
    t.number, cabinet.rfc3339(t.at) AS at, t.delivered, t.duration_ms AS "durationMs", t.timing, t.peer, t.status, t.failure,
    t.response_body AS "responseBody", cabinet.rfc3339(t.next_at) AS "nextAt", coalesce(t.events, 1) AS events
  FROM cabinet.attempt t JOIN cabinet.delivery_all d ON d.id = t.delivery_id
  WHERE t.delivery_id = $1::bigint ORDER BY t.number DESC LIMIT 1000`

/**
 * $1: address, $2: before or null, $3: the delivery to continue before among those of that time, 0 for none, $4: failed
 * only, $5: how many.
 */
export const ATTEMPTS_OF_ADDRESS = `
  SELECT t.delivery_id::float8 AS "deliveryId", CASE WHEN e.id IS NULL THEN 'ping' ELSE 'event.received' END AS type,
    e.id::float8 AS "eventId",
    t.address_id::float8 AS "addressId", t.number, cabinet.rfc3339(t.at) AS at, t.delivered,
    t.duration_ms AS "durationMs", t.timing, t.peer, t.status, t.failure, t.response_body AS "responseBody", cabinet.rfc3339(t.next_at) AS "nextAt",
    coalesce(t.events, 1) AS events
  FROM cabinet.attempt t LEFT JOIN cabinet.delivery d ON d.id = t.delivery_id
    CROSS JOIN LATERAL (SELECT coalesce(d.event_id, t.event_id) AS id) e
  WHERE t.address_id = $1::bigint AND (t.at, t.delivery_id) < (coalesce($2::timestamptz, 'infinity'), $3::bigint)
    AND (NOT $4::boolean OR NOT t.delivered)
  ORDER BY t.at DESC, t.delivery_id DESC, t.number DESC LIMIT $5::int`

/** Reads only due deliveries, of which there may be millions; one in flight counts as due once its lease ends. */
export const GAUGE = `
  WITH clock AS MATERIALIZED (SELECT cabinet.now() AS at),
  waiting AS MATERIALIZED (
    SELECT d.address_id, count(*) AS n, count(*) FILTER (WHERE d.at <= clock.at) AS now,
      count(*) FILTER (WHERE d.at < clock.at - interval '120 seconds') AS late, min(d.at) AS first,
      bool_or(d.leased AND d.at > clock.at) AS served
    FROM clock, (
      SELECT address_id, coalesce(leased_until, due_at) AS at, leased_until IS NOT NULL AS leased
      FROM cabinet.delivery WHERE state = 'due'
    ) d
    GROUP BY d.address_id
  ),
  by_address AS (
    SELECT w.address_id, w.n, w.now, w.first, w.served, a.paused_at IS NOT NULL AS paused, a.failing_since IS NULL AS working,
      -- What waits for its turn at an address with a rate is late, and not stuck as long as others have theirs.
      CASE WHEN p.next_at IS NULL OR p.next_at < clock.at - interval '120 seconds' THEN w.late ELSE 0 END AS late
    FROM clock, waiting w JOIN cabinet.address a ON a.id = w.address_id
      LEFT JOIN cabinet.address_pace p ON p.address_id = a.id
    WHERE a.removed_at IS NULL
  )
  SELECT coalesce(sum(now) FILTER (WHERE NOT paused AND working), 0)::float8 AS due,
    coalesce(sum(CASE WHEN working THEN n - now ELSE n END) FILTER (WHERE NOT paused), 0)::float8 AS retrying,
    coalesce(sum(n) FILTER (WHERE paused), 0)::float8 AS paused,
    coalesce(max(extract(epoch FROM (SELECT at FROM clock) - first)) FILTER (WHERE NOT paused AND working AND now > 0), 0)::float8
      AS "oldestDueSeconds",
    coalesce(sum(late) FILTER (WHERE NOT paused AND working AND NOT served), 0)::float8 AS stuck,
    coalesce(sum(late) FILTER (WHERE NOT paused AND served), 0)::float8 AS behind,
    coalesce((array_agg(address_id::float8 ORDER BY late DESC, address_id) FILTER (WHERE NOT paused AND served AND late > 0))[:5], '{}')
      AS "behindAddresses",
    (SELECT count(*)::float8 FROM cabinet.address WHERE failing_since IS NOT NULL AND removed_at IS NULL) AS "failingAddresses"
  FROM by_address`

/** $1: days, $2: how many. One batch of deliveries that ended before their attempts were dropped. */
export const PRUNE_DELIVERIES = `
  DELETE FROM cabinet.delivery WHERE id IN (
    SELECT d.id FROM cabinet.delivery d
    WHERE d.created_at < cabinet.now() - make_interval(days => $1::int) AND d.state <> 'due'
      AND NOT EXISTS (SELECT FROM cabinet.attempt t WHERE t.delivery_id = d.id)
    LIMIT $2::int)`
