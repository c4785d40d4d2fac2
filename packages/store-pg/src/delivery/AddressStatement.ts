/** The statements of delivery addresses and their subscriptions. */
import type { PauseReason } from "@data-cabinet/core/delivery/Address"
import type { AddressTrouble } from "@data-cabinet/core/delivery/AddressStore"
import { COLUMN_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { ORDERED } from "@data-cabinet/core/delivery/OrderedQueue"
import { HAS_ENDED } from "./OrderedPageStatement.ts"
import { getsOf, ORDERED_POSITION, WAITS } from "./OrderedStatement.ts"

/** The columns of an address `a` as its owner sees it; `sources` is null for all. */
const ADDRESS = `a.id::float8 AS id, a.url, a.secret, a.previous_secret, a.filters::text AS filters,
  coalesce((SELECT f.events FROM cabinet.filtered_events f WHERE f.address_id = a.id), 0)::float8 AS filtered_events,
  CASE WHEN a.previous_secret_until > cabinet.now() THEN cabinet.rfc3339(a.previous_secret_until) END AS previous_until,
  cabinet.rfc3339(a.created_at) AS created_at, cabinet.rfc3339(a.paused_at) AS paused_at,
  cabinet.rfc3339(a.failing_since) AS failing_since,
  (SELECT coalesce(json_agg(h->0), '[]')::text FROM json_array_elements(a.headers) h) AS header_names,
  ${COLUMN_SETTINGS.all.map(({ name }) => `a.${name}`).join(", ")}, a.paused_because, a.client_certificate,
  a.in_order, a.batch_max, a.batch_wait_seconds, a.body::text AS body, (${ORDERED_POSITION}) AS position,
  CASE WHEN a.subscription IS NOT NULL THEN json_build_object('id', a.subscription, 'event', a.subscription_event, 'agent', coalesce(
    (SELECT k.name FROM cabinet.api_key k WHERE coalesce(k.origin, k.id) = a.subscriber_key ORDER BY k.id DESC LIMIT 1),
    (SELECT t.name FROM cabinet.access_token t WHERE t.id = a.subscriber_token), ''),
    'endsAt', cabinet.rfc3339(a.subscription_ends_at))::text END AS subscription,
  CASE WHEN a.in_order THEN (
    SELECT CASE WHEN NOT r.every_source THEN array_to_json(r.sources)::text END FROM cabinet.address_rule r
    WHERE r.address_id = a.id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1)
  WHEN NOT a.every_source THEN (
    SELECT coalesce(json_agg(s.source_id ORDER BY s.source_id), '[]')::text
    FROM cabinet.address_source s WHERE s.address_id = a.id) END AS sources`

export interface AddressRow {
  readonly id: number
  readonly url: string
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_until: string | null
  readonly created_at: string
  readonly paused_at: string | null
  readonly failing_since: string | null
  readonly sources: string | null
  readonly filters: string | null
  readonly filtered_events: number
  readonly header_names: string
  readonly paused_because: PauseReason | null
  readonly client_certificate: string | null
  readonly in_order: boolean
  readonly batch_max: number
  readonly batch_wait_seconds: number
  readonly body: string | null
  readonly position: string | null
  readonly subscription: string | null
}

const LISTED = `FROM cabinet.address a WHERE a.removed_at IS NULL AND NOT ${HAS_ENDED}`

/** $1: the address after which the page begins, $2: how many. */
export const PAGE_OF_ADDRESSES = `SELECT ${ADDRESS} ${LISTED} AND a.id > $1::bigint ORDER BY a.id LIMIT $2::int`

const FAILING = "CASE WHEN a.paused_at IS NULL THEN a.failing_since IS NOT NULL ELSE a.paused_because IS NOT NULL END"

/** The same of those in trouble. */
export const PAGE_OF_FAILING = `SELECT ${ADDRESS} ${LISTED} AND a.id > $1::bigint
  AND (${FAILING} OR (${WAITS} AND (a.paused_at IS NULL OR a.paused_because IS NOT NULL))) ORDER BY a.id LIMIT $2::int`

/** $1: ids. */
export const SOME_ADDRESSES = `SELECT ${ADDRESS} ${LISTED} AND a.id = ANY ($1::bigint[]) ORDER BY a.id`

export const COUNT_ADDRESSES = `SELECT count(*)::float8 AS count ${LISTED}`

/** $1: how many. */
export const TROUBLED_ADDRESSES: Readonly<Record<AddressTrouble, string>> = {
  failing: `SELECT ${ADDRESS} ${LISTED} AND ${FAILING} ORDER BY a.id LIMIT $1::int`,
  waiting: `SELECT ${ADDRESS} ${LISTED} AND ${WAITS} ORDER BY a.id LIMIT $1::int`,
}

/** $1: source, $2: how many. Those in order that get its events. */
export const IN_ORDER_OF_SOURCE = `SELECT ${ADDRESS} ${LISTED} AND a.in_order AND ${getsOf("$1::bigint")} ORDER BY a.id LIMIT $2::int`

export const ADDRESS_BY_ID = `SELECT ${ADDRESS} FROM cabinet.address a WHERE a.id = $1::bigint AND a.removed_at IS NULL`

/** $1: source ids. Returns those that do not exist. */
export const UNKNOWN_SOURCES = `
  SELECT w.id::float8 AS id FROM unnest($1::bigint[]) AS w (id)
  WHERE NOT EXISTS (SELECT FROM cabinet.source s WHERE s.id = w.id AND s.deleted_at IS NULL) ORDER BY w.id`

/** $1: url, $2: every source, $3: sources, $4: secret as it is stored, $5: filters or null, $6: headers as they are stored, or null. */
export const CREATE_ADDRESS = `
  WITH made AS (
    INSERT INTO cabinet.address (url, secret, every_source, filters, headers)
    VALUES ($1::text, $4::text, $2::boolean, $5::json, $6::json) RETURNING id
  ), subscribed AS (
    INSERT INTO cabinet.address_source (address_id, source_id)
    SELECT DISTINCT made.id, s.id FROM made, unnest($3::bigint[]) AS s (id)
  )
  SELECT id::float8 AS id FROM made`

/** No other address can get sources until the end of the transaction. */
export const HOLD_ADDRESSES = "SELECT FROM cabinet.job_lock WHERE name = 'addresses' FOR UPDATE"

/**
 * $1: whether all sources but $2 are meant, instead of $2 alone; $3: how many addresses a source may have, $4: whether
 * only those with a filter count. Returns a source with more, or null for the source if the addresses of every source
 * are more.
 */
export const OVERFULL_SOURCE = `
  WITH counted AS MATERIALIZED (
    SELECT n.source_id, n.addresses FROM cabinet.subscription_count n WHERE NOT $4::boolean
    UNION ALL
    SELECT t.source_id, count(*) FROM cabinet.address a CROSS JOIN LATERAL (
      SELECT 0::bigint AS source_id WHERE a.every_source
      UNION ALL SELECT s.source_id FROM cabinet.address_source s WHERE s.address_id = a.id AND NOT a.every_source
    ) t
    WHERE a.filters IS NOT NULL AND a.removed_at IS NULL GROUP BY t.source_id
  )
  SELECT own.source_id::float8 AS "sourceId"
  FROM (
    SELECT c.source_id, sum(c.addresses) AS addresses FROM counted c JOIN cabinet.source s ON s.id = c.source_id AND s.deleted_at IS NULL
    WHERE CASE WHEN $1::boolean THEN c.source_id <> ALL ($2::bigint[]) ELSE c.source_id = ANY ($2::bigint[]) END
    GROUP BY c.source_id
    UNION ALL SELECT NULL, 0
  ) own
  CROSS JOIN (SELECT coalesce(sum(addresses), 0) AS addresses FROM counted WHERE source_id = 0) of_all
  WHERE own.addresses + of_all.addresses > $3::int ORDER BY own.source_id NULLS LAST LIMIT 1`

/** $1: address, $2: whether it is in order, $3 and $4: its batches. */
export const SET_ORDER = `
  UPDATE cabinet.address SET in_order = $2::boolean, batch_max = $3::int4, batch_wait_seconds = $4::int4
  WHERE id = $1::bigint AND removed_at IS NULL`

/** The most addresses in order. Each reads the feed by itself. */
export const TOO_MANY_IN_ORDER = `
  SELECT count(*) > $1::int4 AS overfull FROM cabinet.address WHERE in_order AND removed_at IS NULL AND subscription IS NULL`

/**
 * $1: address, $2: every source, $3: sources. While no event is accepted: earlier ones are below the place of this rule, and
 * later ones above. Earlier rules stay: events of their time can be sent again.
 */
export const ADD_RULE = `
  WITH place AS MATERIALIZED (
    SELECT CASE WHEN ours THEN epoch ELSE epoch + 1 END AS epoch,
      CASE WHEN ours THEN pg_snapshot_xmax(pg_current_snapshot())::text::int8 ELSE 0 END AS xid
    FROM (
      SELECT coalesce(max(epoch), 0) AS epoch,
        coalesce((array_agg(server_started ORDER BY epoch DESC))[1] = pg_postmaster_start_time(), false) AS ours FROM cabinet.epoch
    ) e
  ), follower AS (
    INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id)
    SELECT '${ORDERED}', $1::int8::text, place.epoch, place.xid, 0 FROM place ON CONFLICT (kind, name) DO NOTHING RETURNING id
  ), extra AS (
    INSERT INTO cabinet.ordered_delivery (address_id, follower_id) SELECT $1::int8, id FROM follower
  )
  INSERT INTO cabinet.address_rule (address_id, epoch, xid, every_source, sources, filters)
  SELECT a.id, place.epoch, place.xid, $2::boolean, $3::bigint[], a.filters FROM place CROSS JOIN cabinet.address a WHERE a.id = $1::int8
  ON CONFLICT (address_id, epoch, xid) DO UPDATE SET every_source = excluded.every_source, sources = excluded.sources, filters = excluded.filters`

/**
 * $1: address. While no event is accepted: everything accepted earlier is delivered before the order begins. This costs the same
 * however much is waiting, because only the last numbers are stored. A server of the previous version reads `rows_before` alone.
 */
export const AWAIT_EARLIER = `
  UPDATE cabinet.ordered_delivery SET
    events_before = (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM cabinet.event_id),
    rows_before = (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM cabinet.delivery_id)
  WHERE address_id = $1::int8`

/** $1: address. Its next attempt is made at once. */
export const TRY_NOW = `
  UPDATE cabinet.follower SET not_before = cabinet.now() WHERE kind = '${ORDERED}' AND name = $1::int8::text AND failures > 0`

/** $1: address. Ends its follower, so that its holder can save nothing more. */
export const REMOVE_FOLLOWER = `
  WITH gone AS (DELETE FROM cabinet.follower WHERE kind = '${ORDERED}' AND name = $1::int8::text RETURNING id),
  extra AS (DELETE FROM cabinet.ordered_delivery WHERE address_id = $1::int8)
  DELETE FROM cabinet.address_rule WHERE address_id = $1::int8`

/** $1: address. Holds it until the end of the transaction. */
export const LOCK_ADDRESS = `
  SELECT url, in_order, batch_max, batch_wait_seconds, filters IS NOT NULL AS filtered, coalesce(headers, '[]')::text AS headers, client_certificate,
    CASE WHEN in_order THEN (
      SELECT CASE WHEN NOT r.every_source THEN r.sources::float8[] END FROM cabinet.address_rule r
      WHERE r.address_id = a.id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1)
    WHEN NOT every_source THEN ARRAY(SELECT t.source_id::float8 FROM cabinet.address_source t WHERE t.address_id = a.id) END AS sources
  FROM cabinet.address a WHERE id = $1::bigint AND removed_at IS NULL FOR UPDATE`

/**
 * Until the end of the transaction no source is created and no event accepted: earlier ones are committed, and later
 * ones see the change.
 */
export const HOLD_SOURCES = "SELECT FROM cabinet.job_lock WHERE name = 'source tables' FOR UPDATE"
export const HOLD_ACCEPTS = "SELECT cabinet.close_fence()"

/** $1: address. Events parsed for its sources are parsed again. */
export const RENEW_SOURCES = `
  UPDATE cabinet.source s SET version = s.version + 1 FROM cabinet.address a
  WHERE a.id = $1::bigint AND s.deleted_at IS NULL
    AND (a.every_source OR EXISTS (SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = s.id))`

/** $1: address, $2: event. */
export const JUDGED_EVENT = `
  SELECT e.id::float8 AS id, e.source_id::float8 AS "sourceId", e.payload::text AS payload,
    e.repeat_of::float8 AS "repeatOf", e.empty, e.history, e.verified, e.spam IS NOT NULL AS spam,
    coalesce(e.source_id IN (SELECT source_id FROM cabinet.notice_source) AND e.payload->>'address_id' = a.id::text, false) AS "aboutIt",
    e.deleted_at IS NOT NULL AS deleted,
    coalesce(e.received_at < a.created_at, false) AS older,
    (SELECT max(d.id)::float8 FROM cabinet.delivery_all d WHERE d.event_id = e.id AND d.address_id = $1::bigint) AS "deliveryId"
  FROM cabinet.event e LEFT JOIN cabinet.address a ON a.id = $1::bigint
  WHERE e.id = $2::bigint`

/** $1: address. */
export const REMOVE_ADDRESS = `
  UPDATE cabinet.address SET removed_at = cabinet.now(), headers = NULL,
    client_certificate = NULL, client_key = NULL, client_certificate_ends_at = NULL
  WHERE id = $1::bigint AND removed_at IS NULL RETURNING 1 AS one`

export const PAUSE_ADDRESS = `
  UPDATE cabinet.address SET paused_at = coalesce(paused_at, cabinet.now()) WHERE id = $1::bigint AND removed_at IS NULL`

/** An address that was given up gets its full time again. */
export const RESUME_ADDRESS = `
  UPDATE cabinet.address SET paused_at = NULL, paused_because = NULL,
    failing_since = CASE WHEN paused_because IS NULL THEN failing_since END WHERE id = $1::bigint AND removed_at IS NULL`

/** $1: address, $2: the new secret as it is stored. */
export const ROTATE_SECRET = `
  UPDATE cabinet.address SET previous_secret = secret, previous_secret_until = cabinet.now() + interval '24 hours',
    secret = $2::text
  WHERE id = $1::bigint AND removed_at IS NULL`
