/**
 * The statements that count events and attempts, and those that read the counts.
 *
 * Decision: docs/decisions/0062-what-happened-is-counted-behind-the-feed.md
 */
import { ACTIVITY } from "@data-cabinet/core/activity/CountActivity"
import { MOST_WAITING } from "@data-cabinet/core/activity/ActivityStore"
import { IS_DELIVERED } from "../delivery/DeliveryStatement.ts"
import { DELIVERED_CHANNELS } from "../delivery/OrderedStatement.ts"
import { behind } from "../feed/Behind.ts"
import { LONGEST_SILENCE_SECONDS, SHORTEST_SILENCE_SECONDS } from "@data-cabinet/core/activity/Activity"

/**
 * $1 to $3: the event to continue after; $4, $5: the watermark; $6: how many. Counts the events, and returns the last
 * one, to which the transaction moves the follower.
 */
export const COUNT_EVENTS = `
WITH came AS MATERIALIZED (
  SELECT w.* FROM (${behind(
    "e.epoch, e.xid, e.id, e.source_id, e.received_at, e.repeat_of, e.empty, e.history",
    ["$1::int8", "$2::int8", "$3::int8"],
    " AND (e.epoch, e.xid) < ($4::int8, $5::int8)",
    "$6::int8",
  )}) w ORDER BY w.epoch, w.xid, w.id LIMIT $6::int8
), counted AS (
  INSERT INTO cabinet.activity AS a (hour, source_id, events, repeats, empties, history, last_at, last_event_id)
  SELECT date_trunc('hour', c.received_at, 'UTC'), c.source_id, count(*), count(c.repeat_of), count(*) FILTER (WHERE c.empty),
    count(*) FILTER (WHERE c.history), max(c.received_at), max(c.id)
  FROM came c GROUP BY 1, 2
  ON CONFLICT (hour, source_id) DO UPDATE SET events = a.events + excluded.events, repeats = a.repeats + excluded.repeats,
    empties = a.empties + excluded.empties, history = a.history + excluded.history,
    last_at = greatest(a.last_at, excluded.last_at), last_event_id = greatest(a.last_event_id, excluded.last_event_id)
)
SELECT c.epoch::float8 AS epoch, c.xid::text AS xid, c.id::float8 AS id, (SELECT count(*) FROM came)::int4 AS events
FROM came c ORDER BY c.epoch DESC, c.xid DESC, c.id DESC LIMIT 1`

/**
 * Runs before the follower is locked, so that an idle cabinet is not written to. Events that arrive meanwhile are
 * counted next.
 */
export const FIRST_UNCOUNTED = `
SELECT count(*) > 0 AS any,
  cabinet.rfc3339(min(w.received_at) FILTER (WHERE w.received_at < cabinet.now() - interval '1 minute')) AS at
FROM cabinet.follower p CROSS JOIN LATERAL (${behind("e.received_at", ["p.epoch", "p.xid", "p.event_id"], "", "1")}) w
WHERE p.kind = '${ACTIVITY}' AND p.name = '${ACTIVITY}'`

/** Times of delivered attempts are counted by these steps, in milliseconds; an attempt takes 15 s at most. */
const STEPS = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 15_000, 30_000,
]

/**
 * Stand in for a time where there was none: failed attempts by their outcome; 0 is any other, and all of an older
 * version.
 */
const REFUSED = -1
const NO_ANSWER = -2

/**
 * An attempt is logged under the time of its claim, a moment after its end. An entry logged later than this is not an
 * outcome: its process ended before it could record one.
 */
const LOGGED_WITHIN = "interval '2 minutes'"
/** How far the first run looks back, and how much one transaction counts. */
const FIRST_ATTEMPTS = "interval '7 days'"
const SPAN = "interval '10 minutes'"

/** One process at a time counts attempts: the others find no row. */
export const LOCK_ATTEMPTS = "SELECT 1 AS one FROM cabinet.attempt_count FOR UPDATE SKIP LOCKED"

/** Where the next attempts to be counted begin and end; no row without such attempts. */
export const NEXT_ATTEMPTS = `
WITH now AS MATERIALIZED (SELECT cabinet.now() AS at), counted AS MATERIALIZED (
  SELECT coalesce(c.until, n.at - ${FIRST_ATTEMPTS}) AS until FROM cabinet.attempt_count c, now n
), next AS (
  SELECT min(t.at) AS at FROM cabinet.address o CROSS JOIN LATERAL (
    SELECT t.at FROM cabinet.attempt t WHERE t.address_id = o.id AND t.at >= (SELECT until FROM counted) ORDER BY t.at LIMIT 1
  ) t
)
SELECT x.at::text AS since, least(x.at + ${SPAN}, n.at - ${LOGGED_WITHIN})::text AS until
FROM next x, now n WHERE x.at < n.at - ${LOGGED_WITHIN}`

/** What is counted of an attempt `t`. */
const KINDS = `date_trunc('hour', t.at, 'UTC') AS hour, t.address_id,
      CASE WHEN t.delivered THEN coalesce(t.events, 1) ELSE 1 END AS events, CASE WHEN t.delivered THEN
      (ARRAY[${STEPS.join(",")}])[least(width_bucket(t.duration_ms - 1, ARRAY[${STEPS.join(",")}]) + 1, ${STEPS.length})]
      WHEN t.status IS NULL THEN ${NO_ANSWER} WHEN t.status BETWEEN 400 AND 499 THEN ${REFUSED} ELSE 0 END AS within`

/** $1, $2: the time that is counted. */
export const COUNT_ATTEMPTS = `
WITH counted AS (
  INSERT INTO cabinet.attempt_activity AS a (hour, address_id, within, attempts)
  SELECT t.hour, t.address_id, t.within, sum(t.events)
  FROM cabinet.address o CROSS JOIN LATERAL (
    SELECT ${KINDS} FROM cabinet.attempt t WHERE t.address_id = o.id AND t.at >= $1::timestamptz AND t.at < $2::timestamptz
  ) t GROUP BY 1, 2, 3
  ON CONFLICT (hour, address_id, within) DO UPDATE SET attempts = a.attempts + excluded.attempts
)
UPDATE cabinet.attempt_count SET until = $2::timestamptz`

/**
 * $1: the source or null; $2, $3: from and to, or null; $4: how many steps if there is no `from`; $5: the step; $6: the
 * time zone in which steps begin. Steps are counted by local time, which is never ambiguous for days or in UTC.
 */
export const EVENTS = `
WITH ends AS MATERIALIZED (
  SELECT coalesce($3::timestamptz, cabinet.now()) AS until
), bounds AS MATERIALIZED (
  SELECT date_trunc($5::text, coalesce($2::timestamptz AT TIME ZONE $6::text,
      (until AT TIME ZONE $6::text) - ($4::int4 - 1) * ('1 ' || $5::text)::interval)) AS first,
    date_trunc($5::text, CASE WHEN $3::timestamptz IS NULL THEN until ELSE until - interval '1 microsecond' END AT TIME ZONE $6::text) AS last
  FROM ends
), counted AS (
  SELECT date_trunc($5::text, a.hour AT TIME ZONE $6::text) AS step, sum(a.events) AS events, sum(a.repeats) AS repeats,
    sum(a.empties) AS empties, sum(a.history) AS history
  FROM cabinet.activity a
  WHERE a.hour >= (SELECT first AT TIME ZONE $6::text FROM bounds)
    AND a.hour < (SELECT (last + ('1 ' || $5::text)::interval) AT TIME ZONE $6::text FROM bounds)
    AND ($1::int8 IS NULL OR a.source_id = $1::int8)
  GROUP BY 1
)
SELECT cabinet.rfc3339(s.step AT TIME ZONE $6::text) AS at, coalesce(c.events, 0)::float8 AS events,
  coalesce(c.repeats, 0)::float8 AS repeats, coalesce(c.empties, 0)::float8 AS empty, coalesce(c.history, 0)::float8 AS history
FROM bounds b CROSS JOIN LATERAL generate_series(b.first, b.last, ('1 ' || $5::text)::interval) s (step)
LEFT JOIN counted c ON c.step = s.step ORDER BY s.step`

/** $1: how many days, today last; $2: the time zone. Each day of each source that has events. */
export const DAYS = `
WITH today AS MATERIALIZED (SELECT date_trunc('day', cabinet.now() AT TIME ZONE $2::text) AS day)
SELECT a.source_id::float8 AS "sourceId", extract(day FROM d.day - date_trunc('day', a.hour AT TIME ZONE $2::text))::int4 AS ago,
  sum(a.events)::float8 AS events
FROM today d CROSS JOIN cabinet.activity a
WHERE a.hour >= (SELECT (day - ($1::int4 - 1) * interval '1 day') AT TIME ZONE $2::text FROM today) GROUP BY 1, 2`

/**
 * A source's silences are examined only if they are long: a source that receives all the time costs one lookup in an
 * index.
 */
export const SOURCES = `
WITH clock AS MATERIALIZED (SELECT cabinet.now() AS now)
SELECT s.id::float8 AS "sourceId", cabinet.rfc3339(l.last_at) AS "lastAt", l.last_event_id::float8 AS "lastEventId",
  cabinet.rfc3339(r.last_at) AS since, extract(epoch FROM c.now - r.last_at)::float8 AS seconds,
  coalesce(u.days, 0)::int4 AS "activeDays", extract(epoch FROM u.usual)::float8 AS "usualSeconds"
FROM cabinet.source s CROSS JOIN clock c
LEFT JOIN LATERAL (
  SELECT a.last_at, a.last_event_id FROM cabinet.activity a WHERE a.source_id = s.id ORDER BY a.hour DESC LIMIT 1
) l ON true
LEFT JOIN LATERAL (
  SELECT a.hour, a.last_at FROM cabinet.activity a
  WHERE a.source_id = s.id AND a.events > a.history AND s.archived_at IS NULL ORDER BY a.hour DESC LIMIT 1
) r ON r.last_at < c.now - interval '${SHORTEST_SILENCE_SECONDS} seconds'
LEFT JOIN LATERAL (
  SELECT count(DISTINCT date_trunc('day', g.hour, 'UTC')) AS days,
    (array_agg(g.gap ORDER BY g.gap DESC) FILTER (WHERE g.gap IS NOT NULL))[3] AS usual
  FROM (
    SELECT a.hour, a.hour - lag(a.hour) OVER (ORDER BY a.hour) AS gap FROM cabinet.activity a
    WHERE a.source_id = s.id AND a.events > a.history AND a.hour <= r.hour AND a.hour > r.hour - interval '${LONGEST_SILENCE_SECONDS} seconds'
  ) g
) u ON true
WHERE s.deleted_at IS NULL ORDER BY s.id`

/** The most attempts of an address, and of all, that a reader counts by itself. */
const COUNTED_AHEAD = 1_000
const ALL_COUNTED_AHEAD = 5_000

/** $1: how many hours. The counts, and the latest attempts, which are not counted yet: at first these are all. */
export const ATTEMPTS = `
WITH since AS MATERIALIZED (
  SELECT n.at, greatest(c.until, n.at) AS uncounted
  FROM (SELECT cabinet.now() - $1::int4 * interval '1 hour' AS at) n LEFT JOIN cabinet.attempt_count c ON true
), latest AS (
  SELECT t.hour, t.address_id, t.within, t.events FROM cabinet.address o CROSS JOIN LATERAL (
    SELECT ${KINDS} FROM cabinet.attempt t WHERE t.address_id = o.id AND t.at >= (SELECT uncounted FROM since)
    ORDER BY t.at LIMIT ${COUNTED_AHEAD}
  ) t LIMIT ${ALL_COUNTED_AHEAD}
)
SELECT cabinet.rfc3339(a.hour) AS at, a.address_id::float8 AS "addressId", CASE WHEN a.within > 0 THEN a.within END AS "withinMillis",
  CASE WHEN a.within > 0 THEN 'delivered' WHEN a.within = ${REFUSED} THEN 'refused' WHEN a.within = ${NO_ANSWER} THEN 'no_answer'
    ELSE 'error' END AS outcome,
  sum(a.attempts)::float8 AS attempts
FROM (SELECT hour, address_id, within, attempts FROM cabinet.attempt_activity UNION ALL SELECT * FROM latest) a
WHERE a.hour > (SELECT at FROM since) GROUP BY a.hour, a.address_id, a.within ORDER BY a.hour, a.address_id, a.within`

const PLACE = ["f.epoch", "f.xid", "f.event_id"] as const

/** Events that wait for an address \`a\` in order: they have no deliveries yet. Its filter is not applied. */
const WAITING_IN_ORDER = `
    SELECT e.received_at AS created_at FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
    CROSS JOIN LATERAL (
      SELECT r.every_source, r.sources FROM cabinet.address_rule r WHERE r.address_id = o.address_id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
    ) r CROSS JOIN LATERAL (
      ${behind("e.*", PLACE, " AND r.every_source", String(MOST_WAITING))}
      UNION ALL SELECT e.* FROM unnest(r.sources) s (id) CROSS JOIN LATERAL (${DELIVERED_CHANNELS.map(
        (channel) => `(SELECT e.* FROM cabinet.event e
        WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > (s.id, '${channel}', ${PLACE.join(", ")})
          AND (e.source_id, e.channel) <= (s.id, '${channel}') AND NOT r.every_source
        ORDER BY e.source_id, e.channel, e.epoch, e.xid, e.id LIMIT ${MOST_WAITING})`,
      ).join(" UNION ALL ")}) e
    ) e WHERE o.address_id = a.id AND ${IS_DELIVERED}`

export const WAITING_AT_FAILING = `
SELECT a.id::float8 AS "addressId", w.waiting::int4 AS waiting, cabinet.rfc3339(w.oldest) AS oldest
FROM cabinet.address a CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(d.created_at) AS oldest FROM (
    SELECT * FROM (
      SELECT d.created_at FROM cabinet.delivery d WHERE d.address_id = a.id AND d.state = 'due'
      UNION ALL (${WAITING_IN_ORDER})
    ) d LIMIT ${MOST_WAITING}
  ) d
) w
WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.failing_since IS NOT NULL ORDER BY a.id`
