/** The statements of staged imports. In every statement of a lease holder, `$1` is the import and `$2` the lease. */

/** Seconds after which an import whose holder was lost can be claimed by another. */
export const LEASE_SECONDS = 30

const STATUS = `m.id::float8 AS id, m.source_id::float8 AS source_id, m.channel, m.name, m.state, m.bytes::float8 AS bytes,
  m.staged::float8 AS staged, m.accepted::float8 AS accepted, m.refused::float8 AS refused, m.failure,
  cabinet.rfc3339(m.created_at) AS created_at, cabinet.rfc3339(m.finished_at) AS finished_at,
  cabinet.rfc3339(m.cancelled_at) AS cancelled_at, coalesce(m.doubts, '[]') AS doubts,
  (SELECT json_build_object('state', u.state, 'position', u.position, 'events', u.events, 'columns', u.columns, 'kept', u.kept,
     'startedAt', cabinet.rfc3339(u.started_at), 'finishedAt', cabinet.rfc3339(u.finished_at))
   FROM cabinet.import_undo u WHERE u.import_id = m.id) AS undo`

const LEASE = `lease_until = cabinet.now() + interval '${LEASE_SECONDS} seconds'`

/** Returns no row if an import of the same file prevents it. */
export const BEGIN = `
INSERT INTO cabinet.import AS m (source_id, channel, history, name, sha256, bytes, once, poll_id, state, lease, lease_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'staging', $9, cabinet.now() + interval '${LEASE_SECONDS} seconds')
ON CONFLICT (source_id, sha256) WHERE once AND state <> 'failed' DO NOTHING
RETURNING m.id::float8 AS id`

/** Finds the import of the same file that is done or in progress, and not undone. $1: source, $2: SHA-256. */
export const FIND_SAME_FILE = `
SELECT ${STATUS} FROM cabinet.import m
WHERE m.source_id = $1 AND m.sha256 = $2 AND m.channel = 'file' AND m.state <> 'failed'
  AND NOT EXISTS (SELECT FROM cabinet.import_undo u WHERE u.import_id = m.id)
ORDER BY m.id DESC LIMIT 1`

export const HOLD = `
UPDATE cabinet.import m SET ${LEASE} WHERE m.id = $1 AND m.lease = $2 AND m.state IN ('staging', 'accepting')
RETURNING m.accepted::float8 AS accepted`

/** $3: numbers, $4: empty, $5: keys, $6: payloads. The same statement extends the lease, or stages nothing. */
export const STAGE = `
WITH held AS (
  UPDATE cabinet.import SET ${LEASE} WHERE id = $1 AND lease = $2 AND state = 'staging' RETURNING id
), rows AS (
  INSERT INTO cabinet.staged_row (import_id, n, empty, key, payload)
  SELECT held.id, t.n, t.empty, t.key, t.payload
  FROM held, unnest($3::int8[], $4::bool[], $5::bytea[], $6::text[]) AS t(n, empty, key, payload)
)
SELECT id::float8 AS id FROM held`

/** $3: rows staged, $4: refused, $5: doubts. Ends the lease: the first process to claim the import accepts it. */
export const SEAL = `
UPDATE cabinet.import m SET state = 'accepting', staged = $3, refused = $4, doubts = $5, lease = NULL, lease_until = NULL
WHERE m.id = $1 AND m.lease = $2 AND m.state = 'staging' RETURNING m.id::float8 AS id`

/** $3: the failure in words. */
export const FAIL = `
UPDATE cabinet.import m SET state = 'failed', failure = $3, finished_at = cabinet.now(), lease = NULL, lease_until = NULL
WHERE m.id = $1 AND m.lease = $2 AND m.state IN ('staging', 'accepting')
RETURNING m.id::float8 AS id, CASE WHEN m.staged > 0 THEN m.poll_id END::float8 AS poll_id`

/**
 * Returns a row if this ended the import. One whose rows are all accepted ends as done, which its holder or the next
 * one records. An acceptance under way holds the import's row: whichever commits second sees the other.
 */
export const CANCEL = `
UPDATE cabinet.import m SET state = 'failed', cancelled_at = cabinet.now(), lease = NULL, lease_until = NULL,
  failure = CASE WHEN m.state = 'failed' THEN m.failure ELSE 'it was cancelled' END,
  finished_at = coalesce(m.finished_at, cabinet.now())
WHERE m.id = $1 AND (m.state = 'staging' OR (m.state = 'accepting' AND m.accepted < m.staged)
  OR (m.state = 'failed' AND m.cancelled_at IS NULL))
RETURNING m.id::float8 AS id, CASE WHEN m.staged > 0 THEN m.poll_id END::float8 AS poll_id`

/** Why an import was not cancelled. */
export const UNCANCELLED = `
SELECT CASE WHEN m.state = 'failed' THEN 'cancelled' ELSE 'done' END AS outcome
FROM cabinet.import m WHERE m.id = $1`

/**
 * Marks items of a poll's response as not seen if they did not become events, so that the poll requests them again. An
 * import that was not sealed marked nothing. The interval doubles with each failed import since the last successful
 * one, up to six hours. $1: import, $2: poll.
 */
export const DELETE_UNACCEPTED_SEEN = `
WITH unseen AS (
  DELETE FROM cabinet.poll_seen s USING cabinet.import m, cabinet.staged_row r
  WHERE m.id = $1 AND r.import_id = m.id AND r.n >= m.accepted AND s.poll_id = $2 AND s.key = r.key
)
UPDATE cabinet.poll p SET etag = NULL, last_modified = NULL, failures = p.failures + 1,
  due_at = greatest(p.due_at, cabinet.now() + make_interval(secs => least(21600, p.every_seconds * 2 ^ least(12, f.failed))))
FROM (
  SELECT count(*) AS failed FROM cabinet.import m WHERE m.poll_id = $2 AND m.state = 'failed' AND m.staged > 0
    AND m.id > (SELECT coalesce(max(d.id), 0) FROM cabinet.import d WHERE d.poll_id = $2 AND d.state = 'done')
) f
WHERE p.id = $2`

/**
 * $1: the new lease, $2: the import, or null for the next one. If its source has an earlier import, claims that one
 * first.
 */
export const CLAIM = `
UPDATE cabinet.import m SET lease = $1, failure = NULL, ${LEASE}
WHERE m.id = (
  SELECT o.id FROM cabinet.import o
  WHERE o.state = 'accepting' AND ($2::int8 IS NULL OR (o.id <= $2 AND o.source_id = (SELECT source_id FROM cabinet.import WHERE id = $2))) AND (o.lease_until IS NULL OR o.lease_until <= cabinet.now())
    AND NOT EXISTS (SELECT FROM cabinet.import e WHERE e.source_id = o.source_id AND e.state = 'accepting' AND e.id < o.id)
  ORDER BY o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING m.id::float8 AS id, m.source_id::float8 AS source_id, m.channel, m.history, m.staged::float8 AS staged,
  m.accepted::float8 AS accepted`

/**
 * $2: from, $3: how many. Ends after 524,288 bytes, but never before the first row: to count characters would take half
 * the time.
 */
export const SLICE = `
SELECT n::float8 AS n, empty, payload FROM (
  SELECT n, empty, payload, sum(octet_length(payload)) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) - octet_length(payload) AS before
  FROM (SELECT n, empty, payload FROM cabinet.staged_row WHERE import_id = $1 AND n >= $2 ORDER BY n LIMIT $3) r
) s WHERE before < 524288 ORDER BY n`

/** $3: the reason for waiting. Some seconds pass before it is claimed again. */
export const RELEASE = `
UPDATE cabinet.import m SET lease = NULL, failure = $3,
  lease_until = CASE WHEN $3::text IS NULL THEN NULL ELSE cabinet.now() + interval '15 seconds' END
WHERE m.id = $1 AND m.lease = $2 AND m.state = 'accepting' RETURNING m.id::float8 AS id`

export const FINISH = `
UPDATE cabinet.import m SET state = 'done', finished_at = cabinet.now(), lease = NULL, lease_until = NULL
WHERE m.id = $1 AND m.lease = $2 AND m.state = 'accepting' AND m.accepted >= m.staged RETURNING m.id::float8 AS id`

export const STATUS_OF = `SELECT ${STATUS} FROM cabinet.import m WHERE m.id = $1`

export const LIST = `SELECT ${STATUS} FROM cabinet.import m WHERE m.channel = 'file' ORDER BY m.id DESC LIMIT $1`

/** Fails imports that a lost process was staging: they were never complete. */
export const FAIL_LOST = `
UPDATE cabinet.import m SET state = 'failed', finished_at = cabinet.now(), lease = NULL, lease_until = NULL,
  failure = 'the process that read it ended before its end; nothing was taken'
WHERE m.state = 'staging' AND m.lease_until <= cabinet.now() RETURNING m.id::float8 AS id`

/** One batch of the staged rows of finished imports, found by one probe per import. $1: how many. */
export const DELETE = `
DELETE FROM cabinet.staged_row r WHERE r.ctid = ANY (ARRAY(
  WITH RECURSIVE ids AS (
    SELECT min(import_id) AS id FROM cabinet.staged_row
    UNION ALL SELECT (SELECT min(import_id) FROM cabinet.staged_row WHERE import_id > ids.id) FROM ids WHERE ids.id IS NOT NULL
  )
  SELECT s.ctid FROM ids JOIN cabinet.staged_row s ON s.import_id = ids.id
  WHERE NOT EXISTS (SELECT FROM cabinet.import m WHERE m.id = ids.id AND m.state IN ('staging', 'accepting'))
  LIMIT $1))
RETURNING 1 AS one`

/** The same for one import: in order, so that its rows are found by their key. $1: import, $2: how many. */
export const DELETE_OF = `
DELETE FROM cabinet.staged_row r WHERE r.import_id = $1 AND r.n < (
  SELECT coalesce(min(n), 0) + $2 FROM cabinet.staged_row WHERE import_id = $1)
RETURNING 1 AS one`
