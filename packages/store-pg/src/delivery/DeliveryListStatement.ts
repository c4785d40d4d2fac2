/**
 * Lists deliveries by their last attempt, newest first; those without one count by their creation.
 *
 * They lie in three places, each with an order of its own: those in the queue by their last attempt, one run for each
 * outcome; those that left the queue in the log, one run for each address; and those without an attempt by their number.
 * A slice takes the head of each run. It is complete down to the newest end of a run that was cut off.
 *
 * Decision: docs/decisions/0088-deliveries-are-listed-by-their-last-attempt.md
 */
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from "@data-cabinet/core/delivery/Attempt"
import type { DeliveryFilter } from "@data-cabinet/core/delivery/DeliveryQueue"
import { MADE_DUE } from "./DeliveryStatement.ts"

/** A delivery of a slice: whether it belongs to the list, and where a page that ends with it continues. */
export interface SliceRow extends DeliveryRow {
  readonly matched: boolean
  readonly key: string
  readonly placeId: number
  readonly untriedBelow: number
  /** Whether others may follow the last of the slice. */
  readonly more: boolean
}

const LISTED = `, w.matched, w."untriedBelow", cabinet.rfc3339(w.key) AS key, w.place_id::float8 AS "placeId",
    EXISTS (SELECT FROM ends) AS more`

/** A delivery as the database returns it. */
export interface DeliveryRow {
  readonly id: number
  readonly type: "event.received" | "ping"
  readonly addressId: number
  readonly eventId: number | null
  readonly state: "due" | "delivered" | "failed" | "cancelled"
  readonly attempts: number
  readonly createdAt: string
  readonly dueAt: string | null
  /** Of its last attempt; null before the first. */
  readonly lastAt: string | null
  readonly lastNumber: number | null
  readonly status: number | null
  readonly failure: string | null
  readonly durationMs: number | null
  readonly responseBody: string | null
}

/**
 * The columns of deliveries `w`, and of their last attempts. A known time leaves one day of the log to look into.
 */
export const withLast = (deliveries: string, more = ""): string => `
  SELECT w.id::float8 AS id, w.type, w.address_id::float8 AS "addressId", w.event_id::float8 AS "eventId", w.state, w.attempts,
    cabinet.rfc3339(w.created_at) AS "createdAt",
    CASE WHEN w.state = 'due' THEN cabinet.rfc3339(coalesce(w.leased_until, w.due_at)) END AS "dueAt",
    cabinet.rfc3339(t.at) AS "lastAt", t.number AS "lastNumber", t.status, t.failure, t.duration_ms AS "durationMs",
    t.response_body AS "responseBody"${more}
  FROM (${deliveries}) w LEFT JOIN LATERAL (
    SELECT t.at, t.number, t.status, t.failure, t.duration_ms, t.response_body FROM cabinet.attempt t
    WHERE t.delivery_id = w.id AND w.attempts > 0
      AND t.at >= coalesce(w.last_at, '-infinity') AND t.at <= coalesce(w.last_at, 'infinity')
    ORDER BY t.number DESC LIMIT 1
  ) t ON true`

/** $5: address, $6: state, $8: source, $9: from, $10: to, $11: whether it waits after a failed attempt, $12: outcome, $13: event, $14: type; null: any. */
const MATCHED = `($5::bigint IS NULL OR w.address_id = $5::bigint) AND ($6::text IS NULL OR w.state = $6::text)
  AND ($9::timestamptz IS NULL OR coalesce(w.last_at, w.created_at) >= $9::timestamptz) AND ($10::timestamptz IS NULL OR coalesce(w.last_at, w.created_at) < $10::timestamptz)
  AND ($12::text IS NULL OR w.outcome = $12::text) AND ($13::bigint IS NULL OR w.event_id = $13::bigint) AND ($14::text IS NULL OR w.type = $14::text)
  AND ($8::bigint IS NULL OR EXISTS (SELECT FROM cabinet.event e WHERE e.id = w.event_id AND e.source_id = $8::bigint))
  AND ($11::boolean IS NULL OR EXISTS (SELECT FROM cabinet.delivery q WHERE q.id = w.id AND q.state = 'due' AND q.failures > 0))`

const COLUMNS = "id, address_id, event_id, type, state, attempts, created_at, due_at, leased_until, last_at, outcome"

/** Where the runs begin. Each is a separate value, so that the scans of the indexes begin there. */
const BEFORE = `(SELECT at FROM bounds), (SELECT id FROM bounds)`

const ATTEMPTED = (outcomes: ReadonlyArray<DeliveryOutcome>) => `
    SELECT 'outcome ' || o.outcome AS run, d.last_at AS key, d.id AS place_id, true AS listed, NULL::bigint AS untried, d.*
    FROM unnest(ARRAY[${outcomes.map((outcome) => `'${outcome}'`).join(", ")}]) AS o (outcome) CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM cabinet.delivery d
      WHERE d.outcome = o.outcome AND d.last_at IS NOT NULL AND (d.last_at, d.id) < (${BEFORE})
        AND d.last_at >= (SELECT since FROM bounds)
      ORDER BY d.last_at DESC, d.id DESC LIMIT (SELECT most FROM bounds)
    ) d`

const LEFT_QUEUE = `
    SELECT 'address ' || a.id, d.last_at, d.id, true, NULL, d.*
    FROM cabinet.address a CROSS JOIN LATERAL (
      SELECT t.delivery_id AS id, t.address_id, t.event_id, CASE WHEN t.event_id IS NULL THEN 'ping' ELSE 'event.received' END AS type,
        'delivered' AS state, t.number AS attempts, t.delivery_created_at AS created_at, NULL::timestamptz AS due_at,
        NULL::timestamptz AS leased_until, t.at AS last_at, 'delivered' AS outcome
      FROM cabinet.attempt_delivered t
      WHERE t.address_id = a.id AND (t.at, t.delivery_id) < (${BEFORE})
        AND t.at <= (SELECT at FROM bounds) AND t.at >= (SELECT since FROM bounds)
        AND NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.id = t.delivery_id)
      ORDER BY t.at DESC, t.delivery_id DESC LIMIT (SELECT most FROM bounds)
    ) d WHERE $5::bigint IS NULL OR a.id = $5::bigint`

/**
 * They have no order by time of their own. Their numbers run almost as their times do: the smallest so far is each one's
 * key, and no later than where the page began. No transaction makes deliveries for ten minutes.
 */
const UNTRIED = `
    SELECT 'untried', d.key, CASE WHEN d.key = (SELECT at FROM bounds) THEN least(d.id, (SELECT id FROM bounds)) ELSE d.id END,
      d.last_at IS NULL, d.id, ${COLUMNS}
    FROM (
      SELECT *, least(min(created_at) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING), (SELECT at FROM bounds)) AS key FROM (
        SELECT ${COLUMNS} FROM cabinet.delivery WHERE id < $3::bigint ORDER BY id DESC LIMIT (SELECT most FROM bounds)
      ) d
    ) d WHERE d.key >= (SELECT since FROM bounds) - interval '10 minutes'`

/**
 * $1, $2: the time and the delivery to continue after, $3: the same of those without an attempt, $4: how many to examine,
 * $7: how many to take; the others as in MATCHED. A slice of the list, as `numbered`.
 */
const slicing = ({ state, outcome = null, retrying = false }: DeliveryFilter): string => {
  const outcomes = outcome === null ? DELIVERY_OUTCOMES : [outcome]
  const runs = [ATTEMPTED(outcomes)]
  if (!retrying && (state ?? "delivered") === "delivered" && outcomes.includes("delivered")) runs.push(LEFT_QUEUE)
  if (outcome === null) runs.push(UNTRIED)
  return `
  WITH bounds AS MATERIALIZED (
    SELECT least(coalesce($1::timestamptz, 'infinity'), coalesce($10::timestamptz, 'infinity')) AS at,
      CASE WHEN $10::timestamptz <= coalesce($1::timestamptz, 'infinity') THEN 0 ELSE $2::bigint END AS id,
      coalesce($9::timestamptz, '-infinity') AS since,
      greatest($7::int + 1, $4::int / (SELECT count(*) + 1 FROM cabinet.address WHERE $5::bigint IS NULL OR id = $5::bigint)) AS most
  ), walked AS MATERIALIZED (${runs.join("\n    UNION ALL")}
  ), ends AS MATERIALIZED (
    SELECT key, place_id, id FROM (
      SELECT DISTINCT ON (run) key, place_id, id, count(*) OVER (PARTITION BY run) AS n FROM walked ORDER BY run, key, place_id, id
    ) e WHERE n >= (SELECT most FROM bounds) ORDER BY key DESC, place_id DESC, id DESC LIMIT 1
  ), numbered AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE matched) OVER (ORDER BY place) AS nth,
      coalesce(min(untried) OVER (ORDER BY place), $3::bigint)::float8 AS "untriedBelow"
    FROM (
      SELECT *, listed AND ${MATCHED} AS matched, row_number() OVER (ORDER BY key DESC, place_id DESC, id DESC) AS place
      FROM walked w WHERE NOT EXISTS (SELECT FROM ends e WHERE (w.key, w.place_id, w.id) < (e.key, e.place_id, e.id))
    ) w
  )`
}

/** Lists a slice: the matching deliveries and one more, and the last examined one. */
export const SLICE = (filter: DeliveryFilter): string => `${slicing(filter)}${withLast(
  `
    SELECT * FROM numbered
    WHERE (matched AND nth <= $7::int + 1) OR place = (SELECT max(place) FROM numbered)`,
  LISTED,
)}
  ORDER BY w.place`

/** Those of a slice that can be sent again: neither pings nor in flight, with an event and an address. */
const RESENDABLE = `w.matched AND w.nth <= $7::int AND w.type <> 'ping' AND NOT (w.state = 'due' AND w.leased_until IS NOT NULL)
      AND EXISTS (SELECT FROM cabinet.address a WHERE a.id = w.address_id AND a.removed_at IS NULL)
      AND EXISTS (SELECT FROM cabinet.event e WHERE e.id = w.event_id AND e.deleted_at IS NULL)`

/** How many deliveries of a slice are sent again, and where it ends; `more`: whether others may follow. */
export interface ResentSlice {
  readonly count: number
  readonly key: string | null
  readonly placeId: number
  readonly untriedBelow: number
  readonly more: boolean
}

const SLICE_END = `
  SELECT (SELECT count(*)::float8 FROM chosen) AS count, cabinet.rfc3339(l.key) AS key, l.place_id::float8 AS "placeId",
    l."untriedBelow", l.is_cut OR EXISTS (SELECT FROM ends) AS more
  FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT n.*, (SELECT count(*) FROM numbered WHERE matched) > $7::int AS is_cut FROM numbered n
    WHERE (SELECT count(*) FROM numbered WHERE matched) <= $7::int OR (n.matched AND n.nth = $7::int)
    ORDER BY n.place DESC LIMIT 1
  ) l ON true`

/** Counts those of a slice that would be sent again. */
export const COUNT_SLICE = (filter: DeliveryFilter): string =>
  `${slicing(filter)}, chosen AS (SELECT FROM numbered w WHERE ${RESENDABLE})${SLICE_END}`

/** The deliveries of a slice by type and source; `more`: whether others may follow. */
export const SLICE_COUNTS = (filter: DeliveryFilter): string => `${slicing(filter)}
  SELECT w.type, e.source_id::float8 AS "sourceId", count(*)::float8 AS deliveries,
    EXISTS (SELECT FROM ends) OR (SELECT count(*) FROM numbered WHERE matched) > $7::int AS more
  FROM numbered w LEFT JOIN cabinet.event e ON e.id = w.event_id WHERE w.matched AND w.nth <= $7::int
  GROUP BY w.type, e.source_id ORDER BY deliveries DESC, e.source_id`

/** Makes the deliveries of a slice due. One that is claimed meanwhile is left to finish. */
export const RESEND_SLICE = (filter: DeliveryFilter): string => `${slicing(filter)}, chosen AS (
    INSERT INTO cabinet.delivery AS d (id, address_id, event_id, attempts, created_at, due_at, last_at, outcome)
    SELECT w.id, w.address_id, w.event_id, w.attempts, w.created_at, cabinet.now(), w.last_at, w.outcome FROM numbered w
    WHERE ${RESENDABLE} ORDER BY w.id
    ON CONFLICT (id) DO UPDATE SET ${MADE_DUE} WHERE NOT (d.state = 'due' AND d.claimed_at IS NOT NULL)
    RETURNING 1
  )${SLICE_END}`

/** $1: event. Few, by their last attempts. */
const OF_EVENT = `
    SELECT ${COLUMNS}, coalesce(last_at, created_at) AS key FROM cabinet.delivery_all WHERE event_id = $1::bigint`

/** $4: event, $1, $2: the time and the delivery to continue after, $7: how many; the others as in MATCHED. One more than that. */
export const SLICE_OF_EVENT = `${withLast(
  `SELECT * FROM (${OF_EVENT.replace("$1", "$4")}) w
    WHERE (w.key, w.id) < (coalesce($1::timestamptz, 'infinity'), $2::bigint) AND $3::bigint IS NOT NULL AND ${MATCHED}
    ORDER BY w.key DESC, w.id DESC LIMIT $7::int + 1`,
  `, true AS matched, 0::float8 AS "untriedBelow", cabinet.rfc3339(w.key) AS key, w.id::float8 AS "placeId", false AS more`,
)}
  ORDER BY w.key DESC, w.id DESC`

/** $1: delivery. */
export const DELIVERY_BY_ID = withLast("SELECT * FROM cabinet.delivery_all WHERE id = $1::bigint")

/** $1: event. */
export const DELIVERIES_OF_EVENT = `${withLast("SELECT * FROM cabinet.delivery_all WHERE event_id = $1::bigint")}
  ORDER BY w.id`
