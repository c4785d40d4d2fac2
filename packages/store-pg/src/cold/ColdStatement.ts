/** The statements of cold history. Waits are by the server's own clock: `cabinet.now()` can be shifted. */
import { REBUILD_KIND } from "@data-cabinet/core/row/RebuildStore"
import { DESTINATION } from "@data-cabinet/core/destination/Destination"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { behind } from "../feed/Behind.ts"
import { EVENT_ROW, ROW_HASH } from "./ColdColumns.ts"

/** How long the rows of a file stay after it is listed: longer than a reader uses a list. */
const SETTLED = "interval '10 minutes'"
/** How long a process may take from the beginning of a file until it is listed. */
const WRITING = "interval '2 hours'"
/** How long a process works on files before another may begin. */
const CLAIM = "interval '30 minutes'"
/** How long rows stay that were brought back for an act. */
const HELD = "interval '1 hour'"

/** How many events, and how many bytes of payloads, a group of a file has. */
export const GROUP_EVENTS = 2_048
const NEXT_BYTES = 4 * 1_048_576

export const CLAIM_WORK = `
UPDATE cabinet.cold_state SET leased_until = clock_timestamp() + ${CLAIM}
WHERE leased_until < clock_timestamp() RETURNING true`

/** $1: the error, or null. */
export const RELEASE_WORK = `
UPDATE cabinet.cold_state SET leased_until = 'epoch', worked_at = cabinet.now(), error = $1::text,
  failures = CASE WHEN $1::text IS NULL THEN 0 ELSE failures + 1 END`

export const PROGRESS = `
SELECT cabinet.rfc3339(worked_at) AS "workedAt", failures, error FROM cabinet.cold_state`

export const VERSION = "SELECT version::text AS version FROM cabinet.cold_state"

/** A file as its row is read. */
export interface FileRow {
  readonly id: number
  readonly name: string | null
  readonly firstEpoch: number
  readonly firstXid: string
  readonly firstId: number
  readonly lastEpoch: number
  readonly lastXid: string
  readonly lastId: number
  readonly events: number
  readonly bytes: number
  readonly digest: string
  readonly from: string
  readonly to: string
  readonly settled: boolean
  readonly emptied: boolean
  readonly thawed: boolean
  readonly deletions: number
  readonly leastId: number
  readonly mostId: number
  readonly fromMicros: string
  readonly toMicros: string
}

const MICROS = (time: string) =>
  `(extract(epoch FROM ${time} - '2000-01-01 00:00:00+00'::timestamptz) * 1000000)::int8::text`

const FILE_ROW = `f.id::float8 AS id, f.name, f.first_epoch::float8 AS "firstEpoch", f.first_xid::text AS "firstXid", f.first_id::float8 AS "firstId",
  f.last_epoch::float8 AS "lastEpoch", f.last_xid::text AS "lastXid", f.last_id::float8 AS "lastId", f.events::float8 AS events,
  f.bytes::float8 AS bytes, f.digest, cabinet.rfc3339(f.from_at) AS "from", cabinet.rfc3339(f.to_at) AS "to",
  f.listed_at < clock_timestamp() - ${SETTLED} AS settled, f.emptied_at IS NOT NULL AS emptied, f.thawed_at IS NOT NULL AS thawed,
  f.deletions::float8 AS deletions, f.least_id::float8 AS "leastId", f.most_id::float8 AS "mostId", ${MICROS("f.from_at")} AS "fromMicros",
  ${MICROS("f.to_at")} AS "toMicros"`

const IN_ORDER = "ORDER BY f.first_epoch, f.first_xid, f.first_id"

export const FILES = `SELECT ${FILE_ROW} FROM cabinet.cold_file f ${IN_ORDER}`

/** The files from which events can be read, with the version of the list; or one row without a name. */
export const LISTED_FILES = `
SELECT ${FILE_ROW}, s.version::text AS version
FROM cabinet.cold_state s LEFT JOIN cabinet.cold_file f ON f.name IS NOT NULL ${IN_ORDER}`

/**
 * The followers that read the table of events themselves, where the least of them is; no row without one. The follower of
 * deliveries has a queue instead of a position, and a table that is being rebuilt needs every event.
 */
const LEAST = `
SELECT CASE WHEN f.kind = '${REBUILD_KIND}' THEN 0 ELSE f.epoch END AS epoch, f.xid, f.event_id AS id FROM cabinet.follower f
WHERE f.kind NOT IN ('deliveries', '${DESTINATION}') ORDER BY 1, 2, 3 LIMIT 1`

/** An event that may move, and facts about the slice. */
export const NEXT_FACTS = `e.received_at < cabinet.now() - make_interval(hours => $6::int4) AS old,
  e.received_at < cabinet.now() - make_interval(hours => $6::int4) - interval '7 days' AS late`

/**
 * $1 to $3: the place to continue after; $4, $5: the watermark; $6: hours; $7: how many. Ends before the first event that is not old enough, or
 * that a follower still needs.
 */
export const NEXT = `
WITH least AS MATERIALIZED (${LEAST}), came AS MATERIALIZED (
  SELECT w.*, sum(w.bytes) OVER (ORDER BY w.epoch, w.xid, w.id) - w.bytes AS before FROM (${behind(
    "e.epoch, e.xid, e.id, e.bytes",
    ["$1::int8", "$2::int8", "$3::int8"],
    " AND (e.epoch, e.xid) < ($4::int8, $5::int8)",
    "$7::int4",
  )}) w WHERE NOT EXISTS (SELECT FROM least l WHERE (l.epoch, l.xid, l.id) < (w.epoch, w.xid, w.id))
  ORDER BY w.epoch, w.xid, w.id LIMIT $7::int4
)
SELECT ${EVENT_ROW}, ${NEXT_FACTS}, c.before < ${NEXT_BYTES} AS fits
FROM came c JOIN cabinet.event e ON e.id = c.id WHERE c.before < 2 * ${NEXT_BYTES} ORDER BY c.epoch, c.xid, c.id`

/** $1: name. */
export const BEGIN = `
INSERT INTO cabinet.cold_leftover (name, remove_at) VALUES ($1::text, clock_timestamp() + ${WRITING})`

/** $1: name. A row, if its writing was begun and it is not being removed. */
export const END_WRITING = "DELETE FROM cabinet.cold_leftover WHERE name = $1::text AND NOT claimed RETURNING true"

/** $1: name. */
export const IS_CLAIMED = "SELECT FROM cabinet.cold_leftover WHERE name = $1::text AND claimed"

/** Held while the list is changed: one transaction at a time reads the border and moves it. */
export const LOCK_LIST = "SELECT version FROM cabinet.cold_state FOR UPDATE"

export const BORDER = `
SELECT last_epoch::text AS epoch, last_xid::text AS xid, last_id::text AS id FROM cabinet.cold_file
ORDER BY last_epoch DESC, last_xid DESC, last_id DESC LIMIT 1`

export const RAISE_VERSION = "UPDATE cabinet.cold_state SET version = version + 1"

const SINCE_2000 = (micros: string) =>
  `'2000-01-01 00:00:00+00'::timestamptz + ${micros}::int8 * interval '1 microsecond'`

/** $1: name, $2 to $7: the range, $8, $9: ids, $10, $11: times, $12: events, $13: bytes, $14: digest. */
export const LIST_FILE = `
INSERT INTO cabinet.cold_file (name, first_epoch, first_xid, first_id, last_epoch, last_xid, last_id, least_id, most_id, from_at, to_at,
  events, bytes, digest, listed_at)
VALUES ($1::text, $2::int8, $3::int8, $4::int8, $5::int8, $6::int8, $7::int8, $8::int8, $9::int8, ${SINCE_2000("$10")}, ${SINCE_2000("$11")},
  $12::int4, $13::int8, $14::text, clock_timestamp())`

/** $1: file, $2: its name, $3: how often its rows were deleted, $4: the new name, $5: bytes, $6: digest. */
export const REPLACE_FILE = `
UPDATE cabinet.cold_file SET name = $4::text, bytes = $5::int8, digest = $6::text, listed_at = clock_timestamp(), emptied_at = NULL
WHERE id = $1::int8 AND name = $2::text AND deletions = $3::int8 AND thawed_at IS NULL RETURNING true`

/** $1: name. */
export const LEAVE = `
INSERT INTO cabinet.cold_leftover (name, remove_at) VALUES ($1::text, clock_timestamp() + ${SETTLED})
ON CONFLICT (name) DO UPDATE SET remove_at = excluded.remove_at`

/** $1: file, $2: its name. Locks a file whose rows may be deleted. */
export const LOCK_SETTLED = `
SELECT FROM cabinet.cold_file WHERE id = $1::int8 AND name = $2::text AND thawed_at IS NULL
  AND listed_at < clock_timestamp() - ${SETTLED} FOR UPDATE`

/** $1: ids. Rows that someone is working on are left for later. */
export const LOCK_ROWS = `
SELECT e.id::float8 AS id FROM cabinet.event e WHERE e.id = ANY ($1::int8[]) ORDER BY e.id FOR UPDATE SKIP LOCKED`

/** Tables that name events whose rows they need. */
const NEEDED_BY = ["deferred_row", "row_set_aside", "trashed_event", "fan_out", "filtered_fan_out", "resend"]

/**
 * $1: ids, $2: hashes. In a later snapshot than `LOCK_ROWS`: what was held before the rows were locked is seen. Only the hashes of
 * these rows are computed, whatever the planner expects.
 */
export const DELETE_ROWS = `
DELETE FROM cabinet.event WHERE id = ANY (ARRAY(
  SELECT e.id FROM (SELECT e.id, ${ROW_HASH} AS hash FROM cabinet.event e WHERE e.id = ANY ($1::int8[]) OFFSET 0) e
  JOIN unnest($1::int8[], $2::int8[]) AS g(id, hash) ON g.id = e.id AND g.hash = e.hash
  WHERE NOT EXISTS (SELECT FROM cabinet.cold_hold h WHERE h.event_id = e.id AND h.until > clock_timestamp())
    AND NOT EXISTS (SELECT FROM cabinet.delivery d WHERE d.event_id = e.id AND d.state = 'due')
    ${NEEDED_BY.map((table) => `AND NOT EXISTS (SELECT FROM cabinet.${table} n WHERE n.event_id = e.id)`).join("\n    ")}
))
RETURNING 1`

/** $1: file. */
export const COUNT_DELETION = "UPDATE cabinet.cold_file SET deletions = deletions + 1 WHERE id = $1::int8"

/** $1: file, $2: its name. */
export const SET_EMPTIED = `
UPDATE cabinet.cold_file SET emptied_at = cabinet.now() WHERE id = $1::int8 AND name = $2::text AND emptied_at IS NULL`

/** $1 to $3: from this place, $4 to $6: up to this place. */
export const ROWS_IN = `
SELECT e.id::float8 AS id, ${ROW_HASH}::text AS hash FROM cabinet.event e
WHERE e.channel IN ('webhook', 'file', 'pull') AND (e.epoch, e.xid, e.id) >= ($1::int8, $2::int8, $3::int8)
  AND (e.epoch, e.xid, e.id) <= ($4::int8, $5::int8, $6::int8)`

/** $1 to $3: before this place, $4 to $6: from this place on, $7: how many. The latest first. */
export const ROWS_BACK = `
SELECT ${EVENT_ROW} FROM (${CHANNELS.map(
  (channel) => `(
  SELECT * FROM cabinet.event e WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) < ($1::int8, $2::int8, $3::int8)
    AND (e.epoch, e.xid, e.id) >= ($4::int8, $5::int8, $6::int8)
  ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT $7::int4)`,
).join(" UNION ALL ")}) e ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT $7::int4`

/** $1: ids. */
export const ROWS_OF = `SELECT ${EVENT_ROW} FROM cabinet.event e WHERE e.id = ANY ($1::int8[])`

/** $1: file, $2: its name. The file stays listed until the transaction ends. */
export const LOCK_LISTED = "SELECT FROM cabinet.cold_file WHERE id = $1::int8 AND name = $2::text FOR SHARE"

/** $1: file, $2: its name. */
export const BEGIN_THAW = `
UPDATE cabinet.cold_file SET thawed_at = cabinet.now() WHERE id = $1::int8 AND name = $2::text RETURNING true`

/** $1: file, $2: its name. */
export const END_THAW = `
UPDATE cabinet.cold_file SET name = NULL, bytes = 0 WHERE id = $1::int8 AND name = $2::text AND thawed_at IS NOT NULL RETURNING true`

/** From here on, none of these files can be listed. */
export const CLAIM_LEFTOVERS = `
UPDATE cabinet.cold_leftover l SET claimed = true WHERE l.remove_at < clock_timestamp()
  AND NOT EXISTS (SELECT FROM cabinet.cold_file f WHERE f.name = l.name) RETURNING l.name`

/** $1: name. */
export const FORGET_LEFTOVER = "DELETE FROM cabinet.cold_leftover WHERE name = $1::text AND claimed"

/** $1: ids. */
export const HOLD = `
INSERT INTO cabinet.cold_hold (event_id, until) SELECT id, clock_timestamp() + ${HELD} FROM unnest($1::int8[]) AS id ORDER BY id
ON CONFLICT (event_id) DO UPDATE SET until = excluded.until`

/** $1: ids. Locks their rows until the transaction ends: a deletion that has locked one is waited for. */
export const PRESENT =
  "SELECT e.id::float8 AS id FROM cabinet.event e WHERE e.id = ANY ($1::int8[]) ORDER BY e.id FOR UPDATE"

export const FORGET_HOLDS = "DELETE FROM cabinet.cold_hold WHERE until < clock_timestamp()"
