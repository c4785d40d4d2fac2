/**
 * Statements on rows that were set aside because the database refuses them, or the program cannot plan them. They are listed
 * separately so that no other row waits for them, and are retried until they are written.
 */

/** Seconds until the first retry; each further one doubles the interval. */
const FIRST_RETRY_SECONDS = 5

const LONGEST_RETRY_SECONDS = 3600

/** How many pairs of source and cause one round handles. */
const CAUSES_PER_ROUND = 20

/**
 * $1: event, $2: source, $3: the reason in words, $4: whether the database refuses the row, $5: whether the table has a row
 * with those fields that have a column.
 */
export const SET_ASIDE = `
INSERT INTO cabinet.row_set_aside AS a (event_id, source_id, reason, refused, partial, retry_at)
VALUES ($1::int8, $2, $3, $4, $5, cabinet.now() + make_interval(secs => ${FIRST_RETRY_SECONDS}))
ON CONFLICT (event_id) DO UPDATE SET
  reason = excluded.reason, refused = excluded.refused, partial = a.partial OR excluded.partial, attempts = a.attempts + 1,
  retry_at = cabinet.now()
    + make_interval(secs => least(${LONGEST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * 2 ^ least(a.attempts, 20)))`

/** Makes all of them due: a newer program, or a migrated database, may accept them. */
export const RETRY_ALL_SET_ASIDE = `
UPDATE cabinet.row_set_aside SET retry_at = cabinet.now() WHERE retry_at > cabinet.now()`

/** $1: source, $2: the reason. Run after such a row was written, because the cause is then probably gone. */
export const RETRY_SAME_CAUSE = `
UPDATE cabinet.row_set_aside SET retry_at = cabinet.now() WHERE source_id = $1 AND reason = $2 AND retry_at > cabinet.now()`

/** Lists sources and reasons with due rows, the longest due first. */
export const DUE_CAUSES = `
SELECT source_id::float8 AS "sourceId", reason
FROM (SELECT source_id, reason, retry_at FROM cabinet.row_set_aside WHERE retry_at <= cabinet.now() ORDER BY retry_at LIMIT 10000) due
GROUP BY source_id, reason ORDER BY min(retry_at) LIMIT ${CAUSES_PER_ROUND}`

/** $1: source, $4: the reason. */
export const NEXT_SET_ASIDE = `
  SELECT w.event_id, e.payload::text AS payload FROM cabinet.row_set_aside w JOIN cabinet.event e ON e.id = w.event_id
  WHERE w.source_id = $1 AND w.reason = $4 AND w.retry_at <= cabinet.now()`

/** $1: the events whose rows were written or are no longer needed. */
export const FORGET_SET_ASIDE = "DELETE FROM cabinet.row_set_aside WHERE event_id = ANY ($1::int8[])"

/** Returns their number and the oldest ones. */
export const ROWS_SET_ASIDE = `
SELECT event_id::float8 AS "eventId", source_id::float8 AS "sourceId", reason, refused, partial,
  cabinet.rfc3339(retry_at) AS "retryAt", count(*) OVER ()::int4 AS total
FROM cabinet.row_set_aside ORDER BY event_id LIMIT 5`
