/** The statements of polls. */
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"

/** Seconds after which a poll whose runner was lost can run again. */
const LEASE_SECONDS = 90

const LEASE = `lease_until = cabinet.now() + interval '${LEASE_SECONDS} seconds'`

const SETTINGS = POLL_SETTINGS.all.map(({ name }) => name)

const SETTING_COLUMNS = SETTINGS.map((name) => `p.${name}`).join(", ")

/** Only the names of headers; their values are in no listing. */
const COLUMNS = `p.id::float8 AS id, p.source_id::float8 AS source_id, p.url, ${SETTING_COLUMNS},
  ARRAY(SELECT h->>0 FROM json_array_elements(p.headers) h) AS header_names, cabinet.rfc3339(p.created_at) AS created_at,
  p.paused_at IS NOT NULL AS paused, CASE WHEN p.paused_at IS NULL THEN cabinet.rfc3339(p.due_at) END AS due_at,
  p.failures, cabinet.rfc3339(p.first_at) AS first_at`

const RUN = `r.id::float8 AS id, r.poll_id::float8 AS poll_id, cabinet.rfc3339(r.at) AS at, r.duration_ms, r.outcome, r.status,
  r.failure, r.peer, r.bytes::float8 AS bytes, r.items::float8 AS items, r.fresh::float8 AS fresh,
  r.import_id::float8 AS import_id, cabinet.rfc3339(r.next_at) AS next_at, coalesce(r.doubts, '[]') AS doubts`

/** $1: source, $2: URL, $3: headers, then all settings. No row if the source does not exist. */
export const ADD = `
INSERT INTO cabinet.poll AS p (source_id, url, headers, ${SETTINGS.join(", ")})
SELECT s.id, $2, $3::json, ${SETTINGS.map((_, index) => `$${index + 4}`).join(", ")} FROM cabinet.source s WHERE s.id = $1 AND s.deleted_at IS NULL
RETURNING ${COLUMNS}`

/** $1: only those with a higher id, $2: how many. */
export const LIST = `
SELECT ${COLUMNS} FROM cabinet.poll p JOIN cabinet.source s ON s.id = p.source_id
WHERE p.id > $1::int8 AND p.removed_at IS NULL AND s.deleted_at IS NULL ORDER BY p.id LIMIT $2::int4`

/**
 * $1: poll, $2: its current URL, $3: its URL, $4: headers, or null to keep them, $5: whether the next items are history, then
 * all settings. Remembered validators belong to the old ones.
 */
export const CHANGE = `
UPDATE cabinet.poll p SET url = $3, ${SETTINGS.map((name, index) => `${name} = $${index + 6}`).join(", ")},
  headers = coalesce($4::json, p.headers), first_at = CASE WHEN $5 THEN NULL ELSE p.first_at END, etag = NULL,
  last_modified = NULL, failures = 0, failing_since = NULL, due_at = cabinet.now(), lease = NULL, lease_until = NULL
WHERE p.id = $1 AND p.url = $2 AND p.removed_at IS NULL RETURNING ${COLUMNS}`

export const HEADERS = `
SELECT p.headers::text AS headers FROM cabinet.poll p WHERE p.id = $1 AND p.url = $2 AND p.removed_at IS NULL`

export const PAUSE = `
UPDATE cabinet.poll p SET paused_at = coalesce(p.paused_at, cabinet.now())
WHERE p.id = $1 AND p.removed_at IS NULL RETURNING ${COLUMNS}`

export const RESUME = `
UPDATE cabinet.poll p SET paused_at = NULL, due_at = CASE WHEN p.paused_at IS NULL THEN p.due_at ELSE cabinet.now() END
WHERE p.id = $1 AND p.removed_at IS NULL RETURNING ${COLUMNS}`

export const REMOVE = `
UPDATE cabinet.poll p SET removed_at = cabinet.now(), headers = '[]', lease = NULL
WHERE p.id = $1 AND p.removed_at IS NULL RETURNING p.id::float8 AS id`

/** One batch of a removed poll's seen marks. $1: poll, $2: how many. */
export const DELETE_SEEN = `
DELETE FROM cabinet.poll_seen WHERE ctid = ANY (ARRAY(SELECT ctid FROM cabinet.poll_seen WHERE poll_id = $1 LIMIT $2))
RETURNING 1 AS one`

export const EXISTS = `SELECT 1 AS one FROM cabinet.poll WHERE id = $1 AND removed_at IS NULL`

export const LOG = `SELECT ${RUN} FROM cabinet.poll_run r WHERE r.poll_id = $1 ORDER BY r.id DESC LIMIT $2`

/** $1: the new lease, $2: a poll, or null for the next one due. */
export const CLAIM = `
UPDATE cabinet.poll p SET lease = $1, ${LEASE}
WHERE p.id = (
  SELECT q.id FROM cabinet.poll q JOIN cabinet.source s ON s.id = q.source_id
  WHERE q.removed_at IS NULL AND s.deleted_at IS NULL AND s.archived_at IS NULL
    AND (q.lease_until IS NULL OR q.lease_until <= cabinet.now())
    AND (q.id = $2 OR ($2::int8 IS NULL AND q.paused_at IS NULL AND q.due_at <= cabinet.now()))
  ORDER BY q.due_at LIMIT 1 FOR UPDATE OF q SKIP LOCKED)
RETURNING p.id::float8 AS id, p.source_id::float8 AS source_id, p.url, ${SETTING_COLUMNS},
  p.headers::text AS headers, p.etag, p.last_modified, p.failures, p.first_at IS NULL AS first`

export const RENEW = `
UPDATE cabinet.poll p SET ${LEASE} WHERE p.id = $1 AND p.lease = $2 AND p.removed_at IS NULL RETURNING 1 AS one`

/** Which of the keys are new, in their order. */
export const FIND_UNSEEN = `
SELECT NOT EXISTS (SELECT FROM cabinet.poll_seen s WHERE s.poll_id = $1 AND s.key = k.key) AS unseen
FROM unnest($2::bytea[]) WITH ORDINALITY AS k(key, n) ORDER BY k.n`

/**
 * $1: poll, $2: lease, $3: whether it failed, $4: etag, $5: last modified, $6: seconds to the next run. A pause keeps its
 * due time.
 */
export const END_RUN = `
UPDATE cabinet.poll p SET lease = NULL, lease_until = NULL, failures = CASE WHEN $3 THEN p.failures + 1 ELSE 0 END,
  failing_since = CASE WHEN $3 THEN coalesce(p.failing_since, cabinet.now()) END,
  first_at = CASE WHEN $3 THEN p.first_at ELSE coalesce(p.first_at, cabinet.now()) END,
  etag = $4, last_modified = $5, due_at = cabinet.now() + make_interval(secs => $6::float8)
WHERE p.id = $1 AND p.lease = $2 AND p.removed_at IS NULL RETURNING p.paused_at IS NULL AS goes_on`

export const MARK_SEEN = `
INSERT INTO cabinet.poll_seen (poll_id, key) SELECT $1, key FROM cabinet.staged_row WHERE import_id = $2
ON CONFLICT DO NOTHING`

export const WRITE_RUN = `
INSERT INTO cabinet.poll_run AS r (poll_id, at, duration_ms, outcome, status, failure, peer, bytes, items, fresh, import_id, doubts, next_at)
SELECT $1, cabinet.now() - make_interval(secs => $2::float8 / 1000), $2::int4, $3, $4, $5, $6, $7, $8, $9, $10, $11::json,
  CASE WHEN p.paused_at IS NULL THEN p.due_at END
FROM cabinet.poll p WHERE p.id = $1
RETURNING ${RUN}`

/** No row if there is nothing to poll. */
export const NEXT_DUE = `
SELECT greatest(0, extract(epoch FROM min(greatest(p.due_at, coalesce(p.lease_until, p.due_at))) - cabinet.now()) * 1000)::float8 AS millis
FROM cabinet.poll p JOIN cabinet.source s ON s.id = p.source_id
WHERE p.removed_at IS NULL AND p.paused_at IS NULL AND s.deleted_at IS NULL AND s.archived_at IS NULL
HAVING count(*) > 0`
