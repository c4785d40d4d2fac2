/** The statements of late verification. */
import { originalOf, slicedEvents } from "./KeptOriginals.ts"

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

/** The parameters of `slicedEvents`; $7: whether undelivered events are wanted. */
export const SLICE = slicedEvents(`e.verified IS NOT TRUE OR ($7::bool AND ${UNDELIVERED})`)

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
