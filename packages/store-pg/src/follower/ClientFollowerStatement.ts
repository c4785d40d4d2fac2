/** The statements of clients' followers. They decide nothing: a row is locked, `movesTo` decides, and its result is written. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { filesBehind } from "../feed/Behind.ts"
import { isEventOf } from "../feed/Fence.ts"

/**
 * The owner of the followers that the fingerprint $1 gives access to. A key that replaces another takes over its
 * followers. A token is found by its own id, because tokens are not replaced.
 */
const HOLDER = `
  SELECT coalesce(k.origin, k.id) AS key_id, NULL::int8 AS token_id FROM cabinet.api_key k WHERE k.fingerprint = $1::bytea
  UNION ALL SELECT NULL, t.id FROM cabinet.access_token t WHERE t.fingerprint = $1::bytea`

/** A follower of a client as its row is read. */
export interface ClientRow {
  readonly id: number
  readonly sourceId: number | null
  readonly channel: "webhook" | "file" | "pull" | null
  readonly position: string
  readonly resets: number
}

const ROW = `f.id::float8 AS id, f.source_id::float8 AS "sourceId", f.channel, f.position, f.resets::float8 AS resets`

const OF_HOLDER = "(f.key_id = h.key_id OR f.token_id = h.token_id)"

/** $1: fingerprint, $2: name. */
export const FIND = `
SELECT ${ROW} FROM (${HOLDER}) h JOIN cabinet.client_follower f ON f.name = $2::text AND ${OF_HOLDER}`

/** $1: id. */
export const GET = `SELECT ${ROW} FROM cabinet.client_follower f WHERE f.id = $1::int8`

/** The holder of a fingerprint; none if its key or token is gone. */
export interface HolderRow {
  readonly keyId: number | null
  readonly tokenId: number | null
}

/** $1: fingerprint. */
export const FIND_HOLDER = `SELECT h.key_id::float8 AS "keyId", h.token_id::float8 AS "tokenId" FROM (${HOLDER}) h`

/** $1: fingerprint, $2: name. */
export const LOCK = `${FIND} FOR UPDATE OF f`

/** $1 to $4: a position's epoch, transaction id, id and time of receipt. */
export const IS_THERE = `
SELECT $3::int8 = 0 OR EXISTS (SELECT FROM cabinet.event e WHERE ${isEventOf("$1::int8", "$2::int8", "$3::int8", "$4::int8")})
  OR EXISTS (SELECT FROM cabinet.cold_file c WHERE c.name IS NOT NULL AND ($1::int8, $2::int8, $3::int8)
    BETWEEN (c.first_epoch, c.first_xid, c.first_id) AND (c.last_epoch, c.last_xid, c.last_id)) AS there`

/** No other follower is created until the transaction ends. Reading and acknowledging go on. */
export const LOCK_CREATION = "LOCK TABLE cabinet.client_follower IN SHARE UPDATE EXCLUSIVE MODE"

/** A position ends with its key: no live key or token, of those that replaced one another, opens it. */
const LIVE = `EXISTS (
    SELECT FROM cabinet.api_key k WHERE coalesce(k.origin, k.id) = f.key_id AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > cabinet.now())
  ) OR EXISTS (
    SELECT FROM cabinet.access_token t WHERE t.id = f.token_id AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > cabinet.now()))`

export const REMOVE_ENDED = `DELETE FROM cabinet.client_follower f WHERE NOT (${LIVE})`

/** $1: key, $2: token. How many followers they have, and the cabinet. */
export const COUNT = `
SELECT count(*) FILTER (WHERE f.key_id = $1::int8 OR f.token_id = $2::int8)::int4 AS own, count(*)::int4 AS "all"
FROM cabinet.client_follower f`

/** $1: key, $2: token, $3: name, $4: source, $5: channel, $6 to $8: the place, $9: the position. */
export const CREATE = `
INSERT INTO cabinet.client_follower AS f (key_id, token_id, name, source_id, channel, epoch, xid, event_id, position)
VALUES ($1::int8, $2::int8, $3::text, $4::int8, $5::text, $6::int8, $7::int8, $8::int8, $9::text) RETURNING ${ROW}`

/** $1: id, $2 to $4: the place, $5: the position, $6: 1 for a reset, otherwise 0. */
export const SET_POSITION = `
UPDATE cabinet.client_follower f SET epoch = $2::int8, xid = $3::int8, event_id = $4::int8, position = $5::text,
  resets = resets + $6::int8, moved_at = cabinet.now()
WHERE f.id = $1::int8 RETURNING ${ROW}`

/** $1: id. */
export const REMOVE = `DELETE FROM cabinet.client_follower f WHERE f.id = $1::int8 RETURNING f.id`

const CHANNEL_LIST = CHANNELS.map((channel) => `('${channel}')`).join(", ")

const behind = (condition: string): string => `
      SELECT e.received_at FROM cabinet.event e
      WHERE ${condition}e.channel = c.channel AND (e.epoch, e.xid, e.id) > (f.epoch, f.xid, f.event_id)
      ORDER BY e.epoch, e.xid, e.id LIMIT ${MOST_BEHIND}`

/**
 * The lag counts the events that the client may read: those of the follower's source and channel, and for a token with
 * a list, of its sources. Each is one scan of an index of the feed, which reads no payload.
 */
export const LIST_CLIENTS = `
WITH followers AS (
  SELECT f.*, (SELECT k.name FROM cabinet.api_key k WHERE coalesce(k.origin, k.id) = f.key_id ORDER BY k.id DESC LIMIT 1) AS key_name,
    t.name AS token_name, CASE WHEN f.source_id IS NOT NULL THEN ARRAY[f.source_id] ELSE t.only_sources END AS sources
  FROM cabinet.client_follower f LEFT JOIN cabinet.access_token t ON t.id = f.token_id WHERE ${LIVE}
)
SELECT f.id::float8 AS id, f.name, nullif(f.event_id, 0)::float8 AS "eventId", cabinet.rfc3339(f.moved_at) AS "movedAt",
  w.behind::float8 AS behind, greatest(0, coalesce(extract(epoch FROM cabinet.now() - w.since), 0))::float8 AS "behindSeconds",
  coalesce(f.key_name, f.token_name) AS key, f.source_id::float8 AS "sourceId", f.channel
FROM followers f CROSS JOIN LATERAL (
  SELECT least(coalesce(sum(n.events), 0), ${MOST_BEHIND}) AS behind, min(n.received_at) AS since FROM (
    ${filesBehind(["f.epoch", "f.xid", "f.event_id"])}
    UNION ALL
    SELECT b.received_at, 1 FROM (VALUES ${CHANNEL_LIST}) c(channel) CROSS JOIN LATERAL (${behind("")}) b
    WHERE f.sources IS NULL AND (f.channel IS NULL OR f.channel = c.channel)
    UNION ALL
    SELECT b.received_at, 1 FROM unnest(f.sources) s(id) CROSS JOIN (VALUES ${CHANNEL_LIST}) c(channel)
      CROSS JOIN LATERAL (${behind("e.source_id = s.id AND ")}) b
    WHERE f.channel IS NULL OR f.channel = c.channel
  ) n
) w ORDER BY key, f.name, f.id`
