/** The statements of late verification. */

/** $1: events. */
export const MISSING = `
  SELECT g.id::text AS id FROM unnest($1::int8[]) WITH ORDINALITY AS g(id, n)
  WHERE NOT EXISTS (SELECT FROM cabinet.event e WHERE e.id = g.id) ORDER BY g.n LIMIT 1`

/** An original request has the time of its events, which finds its partition. `days`: a placeholder for how long it is shown. */
const originalOf = (days: string): string => `cabinet.original_request o
    ON o.id = e.original_request_id AND o.received_at = e.received_at
      AND o.received_at > cabinet.now() - make_interval(hours => ${days}::int * 24)`

const UNDELIVERED =
  "(e.verified AND o.late_recipe IS NOT NULL AND o.late_refusal IS NULL AND o.late_delivered_at IS NULL)"

export interface LateRow {
  readonly id: string
  readonly source_id: string
  readonly verified: boolean | null
  readonly request_id: string | null
  readonly undelivered: boolean | null
  readonly body: Uint8Array | null
  readonly body_bytes: number
  readonly content_type: string | null
  readonly charset_from: string
  readonly headers: Readonly<Record<string, string>> | null
  readonly query: string | null
  readonly received_at: number
}

/** $1: events, $2: for how many days original requests are shown. */
export const FIND = `
  SELECT e.id::text AS id, e.source_id::text AS source_id, e.verified, o.id::text AS request_id, ${UNDELIVERED} AS undelivered,
    CASE WHEN e.verified IS NOT TRUE THEN o.body END AS body, o.body_bytes, o.content_type, o.charset_from, o.headers, o.query,
    floor(extract(epoch FROM o.received_at))::float8 AS received_at
  FROM cabinet.event e LEFT JOIN ${originalOf("$2")}
  WHERE e.id = ANY ($1::int8[])`

export interface SliceRow {
  readonly place: ReadonlyArray<string>
  readonly wanted: boolean
}

/**
 * $1: source, $2: days, $3: limit, $4: whether undelivered events are wanted, $5 to $7: the place, or nulls. It begins
 * at the first event that may have its original request: times and places may differ slightly in order.
 */
export const SLICE = `
  WITH place AS MATERIALIZED (
    SELECT $5::int8 AS epoch, $6::int8 AS xid, $7::int8 AS id WHERE $5::int8 IS NOT NULL
    UNION ALL
    SELECT f.epoch, f.xid, f.id - 1 FROM cabinet.event f
    WHERE $5::int8 IS NULL
      AND f.id = cabinet.first_event_since(cabinet.now() - make_interval(hours => $2::int * 24 + 1))
  )
  SELECT ARRAY[e.epoch::text, e.xid::text, e.id::text] AS place, coalesce(
    o.id IS NOT NULL AND (e.verified IS NOT TRUE OR ($4::bool AND ${UNDELIVERED})), false) AS wanted
  FROM (
    SELECT e.* FROM cabinet.event e
    WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id)
        > ($1::int8, 'webhook', (SELECT epoch FROM place), (SELECT xid FROM place), (SELECT id FROM place))
      AND (e.source_id, e.channel) = ($1::int8, 'webhook')
    ORDER BY e.source_id, e.channel, e.epoch, e.xid, e.id LIMIT $3::int8
  ) e LEFT JOIN ${originalOf("$2")}
  ORDER BY e.epoch, e.xid, e.id`

/** All events of some requests, which the statement names by their first events in `firsts`. */
const OF_FIRSTS = `e.source_id = f.source_id AND e.channel = f.channel AND e.epoch = f.epoch AND e.xid = f.xid
    AND e.original_request_id = f.id`

/** $1: original requests. Locks their events as the trash does, by number. */
export const LOCK_EVENTS = `
  SELECT FROM cabinet.event f JOIN cabinet.event e ON ${OF_FIRSTS}
  WHERE f.id = ANY ($1::int8[]) ORDER BY e.id FOR UPDATE OF e`

/** $1: original requests, $2: recipes, $3: refusals or nulls. Verified events stay verified. */
export const RECORD = `
  WITH firsts AS (
    SELECT f.*, g.recipe, g.refusal FROM unnest($1::int8[], $2::text[], $3::text[]) AS g(id, recipe, refusal)
    JOIN cabinet.event f ON f.id = g.id WHERE f.verified IS NOT TRUE
  ), requests AS (
    UPDATE cabinet.original_request o SET late_recipe = f.recipe, late_refusal = f.refusal, late_at = cabinet.now()
    FROM firsts f WHERE o.id = f.id AND o.received_at = f.received_at
  )
  UPDATE cabinet.event e SET verified = true FROM firsts f WHERE ${OF_FIRSTS} AND f.refusal IS NULL`

/**
 * $1: original requests. Their undelivered events. An event accepted without verification was delivered when it was
 * accepted.
 */
export const UNDELIVERED_EVENTS = `
  SELECT e.id::text AS id, o.refusal IS NULL AS was_sent
  FROM cabinet.event f JOIN cabinet.event e ON ${OF_FIRSTS}
  JOIN cabinet.original_request o ON o.id = f.id AND o.received_at = f.received_at
  WHERE f.id = ANY ($1::int8[]) AND ${UNDELIVERED}
  ORDER BY e.id`

/** $1: original requests. */
export const SET_DELIVERED = `
  UPDATE cabinet.original_request o SET late_delivered_at = cabinet.now()
  FROM cabinet.event f
  WHERE f.id = ANY ($1::int8[]) AND o.id = f.id AND o.received_at = f.received_at
    AND o.late_recipe IS NOT NULL AND o.late_refusal IS NULL AND o.late_delivered_at IS NULL`
