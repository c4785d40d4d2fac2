/**
 * The statements that count requests per minute of the wall clock. The window of a subject is one row of an unlogged
 * table; rows are upserted in one order everywhere (clients before sources, each by name), so that no two batches
 * deadlock.
 *
 * Decision: docs/decisions/0008-rate-limits-count-client-and-source-together.md
 */

// cabinet.now(), inlined: a call would start another query.
export const MINUTE = `SELECT n.at, date_trunc('minute', n.at, 'UTC') AS minute 
  FROM (SELECT clock_timestamp() + shift AS at FROM cabinet.clock) n`

/**
 * A request that read the clock at the end of a minute may have waited for one of the next minute: it counts towards that
 * later minute, which must not start over. Only a clock that was set can go further back.
 */
const SAME = "w.minute BETWEEN excluded.minute AND excluded.minute + interval '1 minute'"

/** Milliseconds to the end of the window, never more than remain. */
const LEFT = `greatest(0, floor(extract(epoch FROM w.minute + interval '1 minute' - w.last_at) * 1000))::int4 AS left_ms`

/** Counts `n` requests of each `subject` in `rows`. */
export const count = (rows: string): string => `
  INSERT INTO cabinet.rate_window AS w (subject, minute, count, last_at)
  SELECT r.subject, m.minute, r.n, m.at FROM (${rows}) r(subject, n), moment m
  ORDER BY 1
  ON CONFLICT (subject) DO UPDATE SET
    count = CASE WHEN ${SAME} THEN w.count + excluded.count ELSE excluded.count END,
    minute = CASE WHEN ${SAME} THEN w.minute ELSE excluded.minute END,
    last_at = CASE WHEN ${SAME} THEN greatest(w.last_at, excluded.last_at) ELSE excluded.last_at END
  RETURNING w.subject, w.count, ${LEFT}`

/** The subject of a key's window is this, followed by its id. */
export const KEY_SUBJECT = "key:"

/** The subject of a reader's window is this, followed by its token's id. */
export const READER_SUBJECT = "reader:"

/** Counts requests of keys; a key that is not live has no row in the result. */
export const COUNT_KEYS = `
WITH moment AS MATERIALIZED (${MINUTE}), live AS MATERIALIZED (
  SELECT k.id, encode(k.fingerprint, 'hex') AS subject, requested.n
  FROM unnest($1::bytea[], $2::int4[]) AS requested(fingerprint, n) JOIN cabinet.api_key k ON k.fingerprint = requested.fingerprint
  WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > (SELECT at FROM moment))
), counted AS (${count(`SELECT '${KEY_SUBJECT}' || id, n FROM live`)})
SELECT l.subject, l.id::text AS id, c.count, c.left_ms FROM counted c JOIN live l ON c.subject = '${KEY_SUBJECT}' || l.id`

/**
 * The same for one key, of $2 requests: by fingerprint $1, at half of the cost. Most batches are of one key, and a short
 * page costs less than its count.
 */
export const COUNT_KEY = `
WITH moment AS MATERIALIZED (${MINUTE}) ${count(`
  SELECT '${KEY_SUBJECT}' || k.id, $2::int4 FROM cabinet.api_key k
  WHERE k.fingerprint = $1::bytea AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > (SELECT at FROM moment))`)}`

/** The live keys of the fingerprints $1. */
export const LIVE_KEYS = `
SELECT encode(k.fingerprint, 'hex') AS subject FROM cabinet.api_key k
WHERE k.fingerprint = ANY ($1::bytea[]) AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > cabinet.now())`

/** Counts one request of the subject $1. */
export const COUNT_SUBJECT = `WITH moment AS MATERIALIZED (${MINUTE}) ${count("SELECT $1::text, 1")}`

/**
 * Counts requests of clients to sources, either of which may be null. Only requests within the client's limit ($4)
 * count against a source. Of two pairs with the same client, the first gets the lower numbers.
 */
export const COUNT_SENDERS = `
WITH moment AS MATERIALIZED (${MINUTE}), requested AS MATERIALIZED (
  SELECT client, source, n, sum(n) OVER (PARTITION BY client ORDER BY place DESC) AS not_before
  FROM unnest($1::text[], $2::text[], $3::int4[]) WITH ORDINALITY AS a(client, source, n, place)
), clients AS (${count("SELECT client, sum(n)::int4 FROM requested WHERE client IS NOT NULL GROUP BY client")}
), passed AS MATERIALIZED (
  SELECT a.source, CASE WHEN a.client IS NULL THEN a.n ELSE least(a.n, greatest(0, $4::int4 - (c.count - a.not_before))) END AS n
  FROM requested a LEFT JOIN clients c ON c.subject = a.client WHERE a.source IS NOT NULL
), sources AS (${count("SELECT source, sum(n)::int4 FROM passed WHERE n > 0 GROUP BY source")}
)
SELECT * FROM clients UNION ALL SELECT * FROM sources`

/** Writes the time of a key's last request from its window to the key, before the windows are deleted. */
export const NOTE_LAST_REQUESTS = `
UPDATE cabinet.api_key k SET last_request_at = w.last_at FROM cabinet.rate_window w
WHERE w.subject = '${KEY_SUBJECT}' || k.id AND w.last_at > coalesce(k.last_request_at, '-infinity')`

/** Writes the time of a token's last request from its window to the token, before the windows are deleted. */
export const NOTE_LAST_READS = `
UPDATE cabinet.access_token t SET last_used_at = w.last_at FROM cabinet.rate_window w
WHERE w.subject = '${READER_SUBJECT}' || t.id AND w.last_at > coalesce(t.last_used_at, '-infinity')`

/** Windows deleted by one statement. */
export const DELETE_BATCH = 10_000

/**
 * One batch of the windows of past minutes. A client with a block of addresses can create more than a batch in a
 * minute.
 */
export const DELETE_WINDOWS = `
DELETE FROM cabinet.rate_window WHERE ctid IN (
  SELECT ctid FROM cabinet.rate_window WHERE minute < cabinet.now() - interval '2 minutes'
  LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED)
RETURNING 1 AS one`
