/** The statements of agents' subscriptions. */
import { ORDERED } from "@data-cabinet/core/delivery/OrderedQueue"
import { HAS_ENDED } from "../delivery/OrderedPageStatement.ts"

/** $1: fingerprint. A key that replaces another takes over its subscriptions. */
export const HOLDER = `
SELECT 'key' AS kind, coalesce(k.origin, k.id)::float8 AS id FROM cabinet.api_key k
WHERE k.fingerprint = $1::bytea AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > cabinet.now())
UNION ALL SELECT 'token', t.id::float8 FROM cabinet.access_token t
WHERE t.fingerprint = $1::bytea AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > cabinet.now())`

const OF_HOLDER = "a.removed_at IS NULL AND (a.subscriber_key = $1::int8 OR a.subscriber_token = $2::int8)"

/** $1: key, $2: token, $3: url. */
export const VERIFIED = `
SELECT 1 AS one FROM cabinet.address a WHERE ${OF_HOLDER} AND a.url = $3::text AND NOT ${HAS_ENDED} LIMIT 1`

/** Removes those that have expired, or whose key has. */
export const END_ENDED = `
SELECT cabinet.end_subscriptions(ARRAY(SELECT a.id FROM cabinet.address a WHERE a.removed_at IS NULL AND ${HAS_ENDED}))`

export interface KeptRow {
  readonly id: string
  readonly secret: string
  readonly epoch: string
  readonly xid: string
  readonly event_id: string
}

/** $1: subscription. Holds it until the end of the transaction. */
export const LOCK = `
SELECT a.id::text AS id, a.subscription_secret AS secret, f.epoch::text AS epoch, f.xid::text AS xid, f.event_id::text AS event_id
FROM cabinet.address a JOIN cabinet.ordered_delivery o ON o.address_id = a.id JOIN cabinet.follower f ON f.id = o.follower_id
WHERE a.subscription = $1::text AND a.removed_at IS NULL FOR UPDATE OF a`

/** $1: key, $2: token. How many subscriptions they have, and the cabinet. */
export const COUNT = `
SELECT count(*) FILTER (WHERE ${OF_HOLDER})::int4 AS own, count(*)::int4 AS "all"
FROM cabinet.address a WHERE a.subscription IS NOT NULL AND a.removed_at IS NULL`

export interface HealthRow {
  readonly paused: boolean
  readonly delivered_at: string | null
  readonly failed_since: string | null
  readonly status: number | null
  readonly failure: string | null
}

/** $1: address. `failed_since` is null unless it waits after a failure. */
export const HEALTH = `
SELECT a.paused_at IS NOT NULL AS paused, cabinet.rfc3339(d.at) AS delivered_at,
  CASE WHEN f.failures > 0 THEN cabinet.rfc3339(coalesce((
    SELECT min(t.at) FROM cabinet.attempt_failed t WHERE t.address_id = a.id AND t.at > coalesce(d.at, '-infinity')), l.at, cabinet.now())) END AS failed_since,
  l.status, l.failure
FROM cabinet.address a JOIN cabinet.ordered_delivery o ON o.address_id = a.id JOIN cabinet.follower f ON f.id = o.follower_id
LEFT JOIN LATERAL (SELECT t.at FROM cabinet.attempt_delivered t WHERE t.address_id = a.id ORDER BY t.at DESC LIMIT 1) d ON true
LEFT JOIN LATERAL (
  SELECT t.at, t.status, t.failure FROM cabinet.attempt_failed t WHERE t.address_id = a.id ORDER BY t.at DESC LIMIT 1) l ON true
WHERE a.id = $1::int8`

/** $1: address, $2: seconds of life. Its next attempt is made at once. */
export const RENEW = `
WITH renewed AS (
  UPDATE cabinet.address SET subscription_ends_at = cabinet.now() + make_interval(secs => $2::float8) WHERE id = $1::int8
  RETURNING subscription_ends_at
), woken AS (
  UPDATE cabinet.follower SET not_before = cabinet.now() WHERE kind = '${ORDERED}' AND name = $1::int8::text AND failures > 0
)
SELECT cabinet.rfc3339(subscription_ends_at) AS ends_at FROM renewed`

/** $1: address, $2: the new secret as it is stored. The one before also signs for a while. */
export const CHANGE_SECRET = `
UPDATE cabinet.address SET previous_secret = subscription_secret, previous_secret_until = cabinet.now() + interval '5 minutes',
  subscription_secret = $2::text WHERE id = $1::int8`

/**
 * $1: url, $2: a secret that nobody knows, $3: subscription, $4: event type, $5: source or null, $6: secret, $7: seconds of life,
 * $8: key, $9: token, $10 to $12: the place.
 */
export const CREATE = `
WITH made AS (
  INSERT INTO cabinet.address (url, secret, every_source, in_order, subscription, subscription_event, subscription_source, subscription_secret,
    subscription_ends_at, subscriber_key, subscriber_token)
  VALUES ($1::text, $2::text, false, true, $3::text, $4::text, $5::int8, $6::text, cabinet.now() + make_interval(secs => $7::float8), $8::int8, $9::int8)
  RETURNING id, subscription_ends_at
), follower AS (
  INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id)
  SELECT '${ORDERED}', id::text, $10::int8, $11::int8, $12::int8 FROM made RETURNING id
), extra AS (
  INSERT INTO cabinet.ordered_delivery (address_id, follower_id) SELECT made.id, follower.id FROM made, follower
), rule AS (
  INSERT INTO cabinet.address_rule (address_id, epoch, xid, every_source, sources)
  SELECT id, 0, 0, $5::int8 IS NULL, CASE WHEN $5::int8 IS NULL THEN '{}'::int8[] ELSE ARRAY[$5::int8] END FROM made
)
SELECT cabinet.rfc3339(subscription_ends_at) AS ends_at FROM made`

/** $1: subscription. */
export const END = `
SELECT cabinet.end_subscriptions(ARRAY[a.id]) FROM cabinet.address a WHERE a.subscription = $1::text AND a.removed_at IS NULL`
