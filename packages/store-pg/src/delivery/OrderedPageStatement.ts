/** The statements that read the next events of an address in order, and give their deliveries numbers. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { PAGE_EVENTS, QUICK_PAGE_EVENTS } from "@data-cabinet/core/delivery/OrderedQueue"
import { WATERMARK } from "../feed/Fence.ts"
import { IS_DELIVERED } from "./DeliveryStatement.ts"
import type { RecipientRow } from "./StoredRecipient.ts"

/** The address of a held follower, what it needs for the next page, and the first position that must not be shown yet. */
export interface HeadRow extends RecipientRow {
  readonly lease: number
  readonly epoch: string
  readonly xid: string
  readonly event_id: string
  readonly failures: number
  readonly bound_epoch: string
  readonly bound: string
  readonly address_id: number
  readonly in_order: boolean
  readonly stopped: boolean
  readonly rate: number | null
  readonly batch_max: number
  readonly batch_wait_seconds: number
  readonly event_ids: ReadonlyArray<string>
  readonly delivery_ids: ReadonlyArray<string>
  /** JSON: filters by place. */
  readonly rules: string
}

/** The life of an agent's subscription `a` is over, or that of its key. */
export const HAS_ENDED = `(a.subscription IS NOT NULL AND (a.subscription_ends_at <= cabinet.now() OR NOT EXISTS (
    SELECT FROM cabinet.api_key k WHERE coalesce(k.origin, k.id) = a.subscriber_key AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > cabinet.now())
    UNION ALL SELECT FROM cabinet.access_token t WHERE t.id = a.subscriber_token AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > cabinet.now()))))`

/** $1 to $4: zeros, for the watermark; $5: follower. */
export const HEAD = `
WITH mark AS MATERIALIZED (${WATERMARK})
SELECT f.lease::float8 AS lease, f.epoch::text AS epoch, f.xid::text AS xid, f.event_id::text AS event_id, f.failures,
  m.epoch AS bound_epoch, m.bound, a.id::float8 AS address_id, a.in_order,
  a.paused_at IS NOT NULL OR a.removed_at IS NOT NULL OR ${HAS_ENDED} AS stopped, a.url, coalesce(a.subscription_secret, a.secret) AS secret,
  CASE WHEN a.previous_secret_until > cabinet.now() THEN a.previous_secret END AS previous_secret,
  a.headers::text AS headers, a.client_certificate, a.client_key, a.timeout_seconds, a.body::text AS body, a.rate, a.batch_max, a.batch_wait_seconds,
  a.subscription, a.subscription_event, a.subscription_source::float8 AS subscription_source,
  o.event_ids::text[] AS event_ids, o.delivery_ids::text[] AS delivery_ids, r.rules
FROM mark m CROSS JOIN cabinet.follower f JOIN cabinet.ordered_delivery o ON o.follower_id = f.id
JOIN cabinet.address a ON a.id = o.address_id CROSS JOIN LATERAL (
  SELECT coalesce(json_agg(json_build_object('epoch', r.epoch::text, 'xid', r.xid::text, 'filters', r.filters)), '[]')::text AS rules
  FROM cabinet.address_rule r WHERE r.address_id = o.address_id
) r WHERE f.id = $5::int8`

/** The bytes of a page's events: the first is taken however long it is. */
const PAGE_BYTES = 1_048_576
/** Events examined for a page of which few are sent; otherwise as many as it may have. */
const SCANNED_WIDE = 2_000
/** A page of fewer events is read again, from more. */
export const FEW_EVENTS = 20

const POSITION = "e.epoch, e.xid, e.id"

/**
 * $1: address, $2 to $4: its place, $5 and $6: the bound. The first row always exists: it says how many events were
 * examined, and which was the last. Each event is judged by the rule of its place.
 */
const pageOf = (most: number, events: number): string => `
WITH scanned AS MATERIALIZED (
  SELECT * FROM (${CHANNELS.map(
    (channel) => `(
    SELECT ${POSITION}, e.source_id, e.bytes, ${IS_DELIVERED} AS sent
    FROM cabinet.event e WHERE e.channel = '${channel}' AND (${POSITION}) > ($2::int8, $3::int8, $4::int8)
      AND (e.epoch, e.xid) < ($5::int8, $6::int8) ORDER BY ${POSITION} LIMIT ${most})`,
  ).join(" UNION ALL ")}) e ORDER BY ${POSITION} LIMIT ${most}
), kept AS MATERIALIZED (
  SELECT s.*, r.epoch AS rule_epoch, r.xid AS rule_xid, row_number() OVER place AS nth, sum(s.bytes) OVER place - s.bytes AS before
  FROM scanned s CROSS JOIN LATERAL (
    SELECT r.epoch, r.xid, r.every_source, r.sources FROM cabinet.address_rule r
    WHERE r.address_id = $1::int8 AND (r.epoch, r.xid) <= (s.epoch, s.xid) ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
  ) r WHERE s.sent AND (r.every_source OR s.source_id = ANY (r.sources))
  WINDOW place AS (ORDER BY s.epoch, s.xid, s.id ROWS UNBOUNDED PRECEDING)
)
SELECT t.examined, t.last_epoch, t.last_xid, t.last_id, t.kept, k.nth::int4 AS nth, k.epoch::text AS epoch, k.xid::text AS xid,
  k.id::float8 AS event_id, k.rule_epoch::text AS rule_epoch, k.rule_xid::text AS rule_xid, e.source_id::float8 AS source_id,
  s.name AS source_name, e.channel, timestamptz_send(e.received_at) AS received_at, json_send(e.payload) AS payload,
  e.repeat_of::float8 AS repeat_of, e.history, e.verified
FROM (
  SELECT (SELECT count(*)::int4 FROM scanned) AS examined, (SELECT count(*)::int4 FROM kept) AS kept,
    l.epoch::text AS last_epoch, l.xid::text AS last_xid, l.id::text AS last_id
  FROM (SELECT 1) one LEFT JOIN (SELECT epoch, xid, id FROM scanned ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1) l ON true
) t LEFT JOIN LATERAL (SELECT * FROM kept WHERE nth = 1 OR (nth <= ${events} AND before < ${PAGE_BYTES})) k ON true
LEFT JOIN LATERAL (
  SELECT e.* FROM cabinet.event e WHERE e.id = k.id AND e.deleted_at IS NULL
    AND NOT (e.source_id IN (SELECT n.source_id FROM cabinet.notice_source n) AND coalesce(e.payload->>'address_id' = $1::int8::text, false)) LIMIT 1
) e ON true LEFT JOIN cabinet.source s ON s.id = e.source_id
ORDER BY k.nth`

export interface PageStatement {
  readonly sql: string
  /** How many events it examines. */
  readonly most: number
}

export const PAGE: PageStatement = { sql: pageOf(PAGE_EVENTS, PAGE_EVENTS), most: PAGE_EVENTS }
export const QUICK_PAGE: PageStatement = { sql: pageOf(QUICK_PAGE_EVENTS, QUICK_PAGE_EVENTS), most: QUICK_PAGE_EVENTS }
export const WIDE_PAGE: PageStatement = { sql: pageOf(SCANNED_WIDE, PAGE_EVENTS), most: SCANNED_WIDE }

/** A row of a page. */
export interface PageRow {
  readonly examined: number
  readonly last_epoch: string | null
  readonly last_xid: string | null
  readonly last_id: string | null
  /** How many events of the examined ones are to be sent, of which a page may have fewer. */
  readonly kept: number
  readonly nth: number | null
  readonly epoch: string
  readonly xid: string
  readonly event_id: number
  readonly rule_epoch: string
  readonly rule_xid: string
  readonly source_id: number | null
  readonly source_name: string
  readonly channel: (typeof CHANNELS)[number]
  readonly received_at: Uint8Array
  readonly payload: Uint8Array
  readonly repeat_of: number | null
  readonly history: boolean
  readonly verified: boolean | null
}

/**
 * $1: follower, $2: fencing token, $3: events, $4: their deliveries, as far as they have numbers. Gives the others numbers. No
 * row if the lease is lost.
 */
export const NUMBER = `
WITH held AS MATERIALIZED (
  SELECT f.id FROM cabinet.follower f WHERE f.id = $1::int8 AND f.lease = $2::int8 FOR UPDATE
), numbered AS MATERIALIZED (
  SELECT u.n, coalesce(u.delivery, nextval('cabinet.delivery_id')) AS delivery
  FROM (SELECT * FROM unnest($3::int8[], $4::int8[]) WITH ORDINALITY AS u(event, delivery, n) ORDER BY n) u
  WHERE EXISTS (SELECT FROM held)
)
UPDATE cabinet.ordered_delivery o SET event_ids = $3::int8[],
  delivery_ids = (SELECT array_agg(delivery ORDER BY n) FROM numbered)
FROM held WHERE o.follower_id = held.id RETURNING o.delivery_ids::text[] AS delivery_ids`
